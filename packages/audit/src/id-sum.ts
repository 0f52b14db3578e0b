/** Summarises a set of ids so that it can be compared with another: their number and a sum of their hashes. */
export interface IdSum {
  readonly add: (id: string) => void;
  readonly count: () => number;
  /** The same value for the same ids in any order. */
  readonly value: () => string;
}

/** Four random 32-bit numbers. If they were known, somebody could find ids that give the same sum. */
export type IdKey = readonly [number, number, number, number];

/** Builds an {@link IdSum} of 64 bits; only sums with the same key can be compared. */
export function createIdSum([left, right, leftFactor, rightFactor]: IdKey): IdSum {
  const [leftOdd, rightOdd] = [leftFactor | 1, rightFactor | 1];
  let count = 0;
  let leftSum = 0;
  let rightSum = 0;
  return {
    add: (id) => {
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
    value: () => `${leftSum}:${rightSum}`,
  };
}
