import { hash } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

// The layout of a UUIDv7 (RFC 9562): the time, the version's half byte, the variant's two bits; all else is chance.
const UUID_BYTES = 16;
const TIME_BYTES = 6;
const VERSION_AT = 6;
const VARIANT_AT = 8;

/** What an identifier names; the prefix is its first two letters on every wire. */
export type IdPrefix =
  | 'po'
  | 'co'
  | 'cb'
  | 'cm'
  | 'br'
  | 'dl'
  | 'rn'
  | 'ba'
  | 'dc'
  | 'sc'
  | 'tr'
  | 'ac'
  | 'st';

/** Makes identifiers that sort by the time they were made, such as `po-0193e5c1…` (UUIDv7 in hex). */
export interface Ids {
  readonly next: (prefix: IdPrefix) => string;
}

/**
 * Builds an {@link Ids} over a clock and a source of chance.
 *
 * The form stays within the reference alphabet of contract 10.3, since our payment references travel upstream.
 */
export function createIds(clock: Clock, random: Random): Ids {
  const uuid = Buffer.alloc(UUID_BYTES);
  return {
    next: (prefix) => {
      uuid.set(random.bytes(UUID_BYTES));
      uuid.writeUIntBE(clock.nowMs(), 0, TIME_BYTES);
      uuid.writeUInt8((uuid.readUInt8(VERSION_AT) & 0x0f) | 0x70, VERSION_AT);
      uuid.writeUInt8((uuid.readUInt8(VARIANT_AT) & 0x3f) | 0x80, VARIANT_AT);
      return `${prefix}-${uuid.toString('hex')}`;
    },
  };
}

const TIME_HEX = TIME_BYTES * 2;

/** The lower bound of all identifiers with this prefix that were made at or after the time, in milliseconds. */
export function firstIdAt(prefix: IdPrefix, atMs: number): string {
  return `${prefix}-${Math.max(0, Math.trunc(atMs)).toString(16).padStart(TIME_HEX, '0')}`;
}

/** Whether a text has the form of an identifier of ours with this prefix; it need not exist. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}-`) && /^[0-9a-f]{32}$/.test(text.slice(prefix.length + 1));
}

const DIGEST_HEX = 32;

/**
 * The id of an event, in the form of {@link Ids}. It is derived from the event's content, so that the same event
 * published again, by any service, has the same id (ADR 37). Half of a SHA-256 is long enough to rule out collisions.
 */
export function eventIdFrom(meaning: string): string {
  return `ev-${hash('sha256', meaning).slice(0, DIGEST_HEX)}`;
}
