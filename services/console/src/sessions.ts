import { createCipheriv, createDecipheriv, createHash, timingSafeEqual } from 'node:crypto';
import { operatorRoles } from '@pesewa/contracts';
import { z } from 'zod';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 4;
/** A cookie may have 4,096 bytes; the rest of a session needs some too. */
export const TOKEN_LENGTH_MAX = 2_800;
/** A session in use is sealed anew at most so often, and twice within its idle time at least. */
const RESEAL_AFTER_MS = 60_000;
const PURPOSE = Buffer.from('pesewa-console-session-1');

/** A signed-in operator, as their cookie holds it, sealed. */
export interface Session {
  readonly id: string;
  readonly token: string;
  readonly name: string;
  /** As the operator APIs told it at sign-in; they check it themselves at every request. */
  readonly role: (typeof operatorRoles)[number];
  readonly signedInAtMs: number;
  readonly usedAtMs: number;
  /** Every form of this session carries it. */
  readonly csrf: string;
}

const sessionSchema = z.object({
  id: z.string(),
  token: z.string(),
  name: z.string(),
  role: z.enum(operatorRoles),
  signedInAtMs: z.number(),
  usedAtMs: z.number(),
  csrf: z.string(),
});

/** The setting of the keys that seal sessions; undefined if it is absent. */
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

/** Seals sessions into cookies, and opens them. */
export interface Sessions {
  readonly seal: (session: Session) => string;
  /** The session; undefined if the text is none of ours, or the session has ended. */
  readonly open: (sealed: string, nowMs: number) => Session | undefined;
  /** The session after a click at this time, if it must be sealed anew. */
  readonly touch: (session: Session, nowMs: number) => Session | undefined;
  /** When the session ends without another click. */
  readonly endsAtMs: (session: Session) => number;
  /** Ends a session for this process, though its cookie may have been copied. */
  readonly end: (session: Session) => void;
}

/** Builds {@link Sessions}; the first key seals, and all open. */
export function createSessions(options: {
  readonly keys: readonly Uint8Array[];
  readonly idleMs: number;
  readonly absoluteMs: number;
  /** Gives so many random bytes. */
  readonly randomBytes: (count: number) => Uint8Array;
}): Sessions {
  const keys = options.keys.map((key) => ({ key, id: keyId(key) }));
  const [sealing] = keys;
  if (!sealing) throw new RangeError('sessions need a key');
  const ended = new Map<string, number>();
  const endsAtMs = ({ usedAtMs, signedInAtMs }: Session) =>
    Math.min(usedAtMs + options.idleMs, signedInAtMs + options.absoluteMs);
  return {
    endsAtMs,
    seal: (session) => {
      const nonce = options.randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing.key, nonce).setAAD(PURPOSE);
      const body = Buffer.concat([cipher.update(JSON.stringify(session), 'utf8'), cipher.final()]);
      return Buffer.concat([sealing.id, nonce, body, cipher.getAuthTag()]).toString('base64url');
    },
    open: (sealed, nowMs) => {
      const session = unseal(Buffer.from(sealed, 'base64url'), keys);
      if (!session || ended.has(session.id) || nowMs >= endsAtMs(session)) return undefined;
      return session;
    },
    touch: (session, nowMs) =>
      nowMs - session.usedAtMs < Math.min(RESEAL_AFTER_MS, options.idleMs / 2)
        ? undefined
        : { ...session, usedAtMs: nowMs },
    end: ({ id, signedInAtMs }) => {
      for (const [other, endsMs] of ended) if (endsMs < signedInAtMs) ended.delete(other);
      ended.set(id, signedInAtMs + options.absoluteMs);
    },
  };
}

const keyId = (key: Uint8Array): Buffer =>
  createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES);

function unseal(
  bytes: Buffer,
  keys: readonly { readonly key: Uint8Array; readonly id: Buffer }[],
): Session | undefined {
  if (bytes.length < KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES) return undefined;
  const found = keys.find(({ id }) => timingSafeEqual(id, bytes.subarray(0, KEY_ID_BYTES)));
  if (!found) return undefined;
  const nonce = bytes.subarray(KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', found.key, nonce).setAAD(PURPOSE);
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const body = bytes.subarray(KEY_ID_BYTES + NONCE_BYTES, -TAG_BYTES);
    const text = Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    return sessionSchema.safeParse(JSON.parse(text)).data;
  } catch {
    // Forged, or sealed by a key that is gone: the same as no cookie at all.
    return undefined;
  }
}
