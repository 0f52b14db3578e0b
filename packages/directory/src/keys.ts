import { createHash } from 'node:crypto';
import type { KeyScope } from '@pesewa/contracts';
import { accept, type Random, type Result, refuse } from '@pesewa/kernel';
import type { MerchantKey } from './merchant.ts';

const KEY_BYTES = 32;

/** Enough to change from one key to the next without a break, and no more that may lie around. */
const LIVE_PER_SCOPE_MAX = 2;

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

/** Whether a key is accepted at a time. */
export function isLive({ expiresAt }: MerchantKey, nowMs: number): boolean {
  return expiresAt === undefined || nowMs < expiresAt.getTime();
}

/**
 * A merchant's keys with one more; those that have expired are left out. Refused with the scope that has as many live keys
 * as it may.
 */
export function withKey(
  keys: readonly MerchantKey[],
  added: MerchantKey,
  nowMs: number,
): Result<readonly MerchantKey[], KeyScope> {
  const live = keys.filter((key) => isLive(key, nowMs));
  const full = added.scopes.find(
    (scope) => live.filter(({ scopes }) => scopes.includes(scope)).length >= LIVE_PER_SCOPE_MAX,
  );
  return full === undefined ? accept([...live, added]) : refuse(full);
}
