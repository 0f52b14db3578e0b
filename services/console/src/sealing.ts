import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import { CompactEncrypt, compactDecrypt } from 'jose';
import { z } from 'zod';

const KEY_BYTES = 32;

/** The setting of the keys that seal cookies; undefined if it is absent. */
export const sessionKeysSetting = z
  .string()
  .optional()
  .transform((text, context): readonly Uint8Array[] | undefined => {
    if (text === undefined) return undefined;
    const keys = text.split(',').map((key) => Buffer.from(key.trim(), 'base64'));
    if (keys.every(({ length }) => length === KEY_BYTES)) return keys;
    context.addIssue({
      code: 'custom',
      message: 'must be keys of 32 bytes in base64: openssl rand -base64 32',
    });
    return z.NEVER;
  });

/** What sealing needs. */
export interface SealingDeps {
  /** The first seals, and all open. */
  readonly keys: readonly Uint8Array[];
  /** In production cookies go over TLS alone and belong to this host alone. */
  readonly isProduction: boolean;
}

/**
 * Builds what seals values of one schema into text that nobody else can read or make (JWE with AES-256-GCM, RFC 7516), and
 * opens it; it opens for the same purpose alone.
 */
export function createSealer<Value>(keys: readonly Uint8Array[], purpose: string, schema: z.ZodType<Value>) {
  const [sealing] = keys;
  if (!sealing) throw new RangeError('sealing needs a key');
  const header = { alg: 'dir', enc: 'A256GCM', typ: purpose } as const;
  const accepted = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] };
  return {
    seal: (value: Value): Promise<string> =>
      new CompactEncrypt(Buffer.from(JSON.stringify(value))).setProtectedHeader(header).encrypt(sealing),
    /** The value; undefined if the text is none of ours, or was sealed for another purpose. */
    open: async (sealed: string): Promise<Value | undefined> => {
      for (const key of keys) {
        // Forged, or sealed by a key that is gone: the same as no cookie at all.
        const opened = await compactDecrypt(sealed, key, accepted).catch(() => undefined);
        if (opened?.protectedHeader.typ === purpose)
          return schema.safeParse(JSON.parse(Buffer.from(opened.plaintext).toString())).data;
      }
      return undefined;
    },
  };
}

/** Builds a cookie with a sealed value; without an age it ends with the browser. */
export function createSealedCookie<Value>(
  { keys, isProduction }: SealingDeps,
  name: string,
  schema: z.ZodType<Value>,
  options: CookieOptions = {},
) {
  const sealer = createSealer(keys, name, schema);
  const prefix = isProduction ? 'host' : undefined;
  const own: CookieOptions = { ...cookieOptions(isProduction), ...options, ...(prefix && { prefix }) };
  return {
    read: (context: Context) => sealer.open(getCookie(context, name, prefix) ?? ''),
    write: async (context: Context, value: Value) => setCookie(context, name, await sealer.seal(value), own),
    clear: (context: Context) => void deleteCookie(context, name, own),
  };
}

/** How cookies are kept from scripts and other sites. */
export const cookieOptions = (isProduction: boolean) =>
  ({ httpOnly: true, sameSite: 'Strict', path: '/', secure: isProduction }) satisfies CookieOptions;
