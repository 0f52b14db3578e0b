import { createCipheriv, createDecipheriv, createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 4;

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
  /** Gives so many random bytes. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Seals values of one schema into text that nobody else can read or make (AES-256-GCM), and opens it. */
export interface Sealer<Value> {
  readonly seal: (value: Value) => string;
  /** The value; undefined if the text is none of ours, or was sealed for another purpose. */
  readonly open: (sealed: string) => Value | undefined;
}

/** Builds a {@link Sealer}; what it seals opens for the same purpose alone. */
export function createSealer<Value>(
  deps: SealingDeps,
  purpose: string,
  schema: z.ZodType<Value>,
): Sealer<Value> {
  const keys = deps.keys.map((key) => ({ key, id: keyId(key) }));
  const [sealing] = keys;
  if (!sealing) throw new RangeError('sealing needs a key');
  const data = Buffer.from(purpose);
  return {
    seal: (value) => {
      const nonce = deps.randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing.key, nonce).setAAD(data);
      const body = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return Buffer.concat([sealing.id, nonce, body, cipher.getAuthTag()]).toString('base64url');
    },
    open: (sealed) => {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES) return undefined;
      const found = keys.find(({ id }) => timingSafeEqual(id, bytes.subarray(0, KEY_ID_BYTES)));
      if (!found) return undefined;
      const nonce = bytes.subarray(KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', found.key, nonce).setAAD(data);
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const body = bytes.subarray(KEY_ID_BYTES + NONCE_BYTES, -TAG_BYTES);
        const text = Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
        return schema.safeParse(JSON.parse(text)).data;
      } catch {
        // Forged, or sealed by a key that is gone: the same as no cookie at all.
        return undefined;
      }
    },
  };
}

const keyId = (key: Uint8Array): Buffer =>
  createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES);
