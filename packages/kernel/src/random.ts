import { randomBytes, randomInt } from 'node:crypto';

/** Chance as an argument, so that tests can seed it. */
export interface Random {
  /** Bytes fit for identifiers and secrets. */
  readonly bytes: (length: number) => Uint8Array;
  /** A number in [0, 1), for jitter. */
  readonly fraction: () => number;
}

const FRACTION_STEPS = 2 ** 32;

/** The operating system's source of chance. */
export const systemRandom: Random = {
  bytes: (length) => randomBytes(length),
  fraction: () => randomInt(FRACTION_STEPS) / FRACTION_STEPS,
};
