import type { DriftFinding } from '@pesewa/contracts';

/** A payment in flight: what it may have taken from a rail's wallet or brought to it; minor units, not negative. */
export interface OpenPayment {
  readonly reference: string;
  readonly mayDebit: bigint;
  readonly mayCredit: bigint;
}

/** Whether a difference is explained, by which payments, and what of it is not. */
export interface Explanation {
  readonly finding: Exclude<DriftFinding, 'out_of_range'>;
  /** The fewest payments in flight that give exactly the difference; none if it is not explained, or needs none. */
  readonly explainedBy: readonly string[];
  /**
   * The least that no combination of payments gives; 0 if it is explained, or unknown. It has no sign, because which of
   * the payments the rail has executed is not known: what is missing may be more, and may be the other way.
   */
  readonly unexplained: bigint;
}

/**
 * How many different sums are looked at: of a dozen payments with different amounts. More would give almost any
 * difference by chance, and so explain nothing.
 */
const SUMS_MAX = 4_096;

const untold = (finding: 'too_many_to_tell' | 'books_moved'): Explanation => ({
  finding,
  explainedBy: [],
  unexplained: 0n,
});

/**
 * Explains a balance that the payments in flight allow (ADR 28): a range says what could be, and only a combination of
 * payments that gives exactly the difference explains it.
 *
 * While payments are posted it is not known which of them the rail's answer had, so that nothing follows if none of
 * these floats explains it: the books moved, and another look is needed.
 *
 * @param floats those that the rail may have had when it answered
 * @param payments undefined if there are too many to list
 * @param isQuiet whether nothing was posted, not even what cancels out
 */
export function explainBalance(
  railBalance: bigint,
  floats: readonly bigint[],
  payments: readonly OpenPayment[] | undefined,
  isQuiet: boolean,
): Explanation {
  const differences = floats.map((float) => railBalance - float);
  if (differences.includes(0n)) return { finding: 'explained', explainedBy: [], unexplained: 0n };
  const sums = payments && sumsOf(payments);
  if (!sums) return untold('too_many_to_tell');
  const explainedBy = differences.map((difference) => sums.get(difference)).find((found) => found);
  if (explainedBy) return { finding: 'explained', explainedBy, unexplained: 0n };
  if (!isQuiet) return untold('books_moved');
  const rests = differences.flatMap((difference) => [...sums.keys()].map((sum) => difference - sum));
  const unexplained = rests.map(magnitude).reduce((least, rest) => (rest < least ? rest : least));
  return { finding: 'unexplained_within_range', explainedBy: [], unexplained };
}

/** Every sum that some of the payments give, each with the fewest of them; undefined if there are too many. */
function sumsOf(payments: readonly OpenPayment[]): ReadonlyMap<bigint, readonly string[]> | undefined {
  const moves = payments.flatMap(({ reference, mayDebit, mayCredit }) =>
    [-mayDebit, mayCredit].filter((minor) => minor !== 0n).map((minor) => ({ reference, minor })),
  );
  let sums = new Map<bigint, readonly string[]>([[0n, []]]);
  for (const { reference, minor } of moves) {
    const next = new Map(sums);
    for (const [before, references] of sums) {
      const known = next.get(before + minor);
      if (!known || known.length > references.length + 1)
        next.set(before + minor, [...references, reference]);
    }
    if (next.size > SUMS_MAX) return undefined;
    sums = next;
  }
  return sums;
}

function magnitude(minor: bigint): bigint {
  return minor < 0n ? -minor : minor;
}
