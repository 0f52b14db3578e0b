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

/** A state of our books that the rail may have had when it answered. */
export interface PossibleBooks {
  readonly float: bigint;
  /** Undefined if there are too many to list. */
  readonly payments: readonly OpenPayment[] | undefined;
}

/**
 * How many different sums are looked at: of a dozen payments with different amounts. More would give almost any
 * difference by chance, and so explain nothing.
 */
const SUMS_MAX = 4_096;

/** Payments that give a sum, as a list from the last one. */
interface Combination {
  readonly size: number;
  readonly references: readonly string[];
}

const NONE: Combination = { size: 0, references: [] };
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
 * these books explains it: the books moved, and another look is needed.
 *
 * @param isQuiet whether nothing was posted, not even what cancels out
 */
export function explainBalance(
  railBalance: bigint,
  books: readonly PossibleBooks[],
  isQuiet: boolean,
): Explanation {
  const floats = new Map(books.map(({ float, payments }) => [float, payments]));
  if (floats.has(railBalance)) return { finding: 'explained', explainedBy: [], unexplained: 0n };
  let nearest: bigint | undefined;
  for (const [float, payments] of floats) {
    const sums = payments && sumsOf(payments);
    if (!sums) return untold('too_many_to_tell');
    const found = sums.get(railBalance - float);
    if (found) return { finding: 'explained', explainedBy: found.references, unexplained: 0n };
    for (const sum of sums.keys()) nearest = lesser(magnitude(railBalance - float - sum), nearest);
  }
  if (!isQuiet || nearest === undefined) return untold('books_moved');
  return { finding: 'unexplained_within_range', explainedBy: [], unexplained: nearest };
}

/** Every sum that some of the payments give, each with the fewest of them; undefined if there are too many. */
function sumsOf(payments: readonly OpenPayment[]): ReadonlyMap<bigint, Combination> | undefined {
  const moves = payments.flatMap(({ reference, mayDebit, mayCredit }) =>
    [-mayDebit, mayCredit].filter((minor) => minor !== 0n).map((minor) => ({ reference, minor })),
  );
  let sums = new Map([[0n, NONE]]);
  for (const { reference, minor } of moves) {
    const next = new Map(sums);
    for (const [before, { size, references }] of sums) {
      const known = next.get(before + minor);
      if (!known || known.size > size + 1)
        next.set(before + minor, { size: size + 1, references: [...references, reference] });
    }
    if (next.size > SUMS_MAX) return undefined;
    sums = next;
  }
  return sums;
}

function magnitude(minor: bigint): bigint {
  return minor < 0n ? -minor : minor;
}

function lesser(one: bigint, other: bigint | undefined): bigint {
  return other === undefined || one < other ? one : other;
}
