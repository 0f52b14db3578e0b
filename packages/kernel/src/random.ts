import { randomBytes, randomInt } from 'node:crypto';

/** Chance as an argument, so that tests can seed it. */
export interface Random {
  /** Bytes fit for identifiers and secrets. */
  readonly bytes: (length: number) => Uint8Array;
  /** A number in [0, 1), for jitter. */
  readonly fraction: () => number;
}

const FRACTION_STEPS = 2 ** 32;
const POOL_BYTES = 8_192;

let pool: Uint8Array = new Uint8Array();
let used = 0;

/** Takes bytes from a pool: one call of the operating system serves hundreds of identifiers. */
function pooledBytes(length: number): Uint8Array {
  if (length > POOL_BYTES / 8) return randomBytes(length);
  if (used + length > pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  used += length;
  return pool.slice(used - length, used);
}

/** The operating system's source of chance. */
export const systemRandom: Random = {
  bytes: pooledBytes,
  fraction: () => randomInt(FRACTION_STEPS) / FRACTION_STEPS,
};
