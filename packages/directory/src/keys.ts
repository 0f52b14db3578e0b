import { createHash } from 'node:crypto';
import type { Random } from '@pesewa/kernel';

const KEY_BYTES = 32;

/** The maximum length of a key header's value; longer ones are not looked up. */
export const HEADER_LENGTH_MAX = 512;

/** The form of a public key: ASCII, so that all encoders give the same Base64. */
export const publicKeyPattern = /^[A-Za-z0-9_-]{16,128}$/;

/** Makes a new public key. */
export function createPublicKey(random: Pick<Random, 'bytes'>): string {
  return Buffer.from(random.bytes(KEY_BYTES)).toString('base64url');
}

/** The SHA-256 of a public key, hex, as it is stored. */
export function hashPublicKey(publicKey: string | Uint8Array): string {
  return createHash('sha256').update(publicKey).digest('hex');
}

/**
 * The key's hash from the value of `x-api-key` or `X-business` (contract 5); undefined if it is no strict Base64 of a
 * possible public key, so that no lookup is needed.
 *
 * Node reads Base64 leniently. Only a value that encodes back to itself is accepted, so that each key has one
 * spelling.
 */
export function hashOfHeader(headerValue: string): string | undefined {
  if (headerValue === '' || headerValue.length > HEADER_LENGTH_MAX) return undefined;
  const key = Buffer.from(headerValue, 'base64');
  if (key.toString('base64') !== headerValue || !publicKeyPattern.test(key.toString('latin1')))
    return undefined;
  return hashPublicKey(key);
}
