import { randomBytes } from 'node:crypto';

/** Summarises a set of ids so that it can be compared with another: their number and a sum of their hashes. */
export type IdSum = ReturnType<typeof createIdSum>;

/** A sum so far, and its key. */
export interface IdSumState {
  readonly key: IdKey;
  readonly count: number;
  readonly sums: readonly [number, number];
}

/** The sum of no ids, with a key of its own. */
export function emptyIdSum(): IdSumState {
  const bytes = randomBytes(16);
  const key = [
    bytes.readInt32LE(0),
    bytes.readInt32LE(4),
    bytes.readInt32LE(8),
    bytes.readInt32LE(12),
  ] as const;
  return { key, count: 0, sums: [0, 0] };
}

/** Four random 32-bit numbers. If they were known, somebody could find ids that give the same sum. */
export type IdKey = readonly [number, number, number, number];

/** Builds an {@link IdSum} of 64 bits; only sums with the same key can be compared. */
export function createIdSum(start: IdSumState) {
  const { key } = start;
  const [left, right, leftFactor, rightFactor] = key;
  const [leftOdd, rightOdd] = [leftFactor | 1, rightFactor | 1];
  let { count } = start;
  let [leftSum, rightSum] = start.sums;
  return {
    add: (id: string) => {
      let [one, other] = [left, right];
      for (let index = 0; index < id.length; index += 1) {
        const unit = id.charCodeAt(index);
        one = Math.imul(one ^ unit, leftOdd);
        one ^= one >>> 15;
        other = Math.imul(other ^ unit, rightOdd);
        other ^= other >>> 13;
      }
      count += 1;
      leftSum = (leftSum + one) >>> 0;
      rightSum = (rightSum + other) >>> 0;
    },
    count: () => count,
    /** The same value for the same ids in any order. */
    value: () => `${leftSum}:${rightSum}`,
    /** To go on with later. */
    state: (): IdSumState => ({ key, count, sums: [leftSum, rightSum] }),
  };
}
