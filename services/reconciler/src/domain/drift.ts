import type { DriftFinding } from '@pesewa/contracts';
import { explainBalance, type OpenPayment } from './drift-explanation.ts';

/**
 * The totals of our float's debits and credits at a rail in one currency, by the ledger; minor units, both only grow.
 */
export interface FloatTotals {
  readonly credits: bigint;
  readonly debits: bigint;
}

/** The measurements of one comparison of a rail's wallet; minor units of one currency. */
export interface Measurement {
  readonly railBalance: bigint;
  /** The totals before the rail was asked. */
  readonly before: FloatTotals;
  /** The totals after its answer; these are read after the payments in flight. */
  readonly after: FloatTotals;
  readonly inFlight: {
    readonly mayDebit: bigint;
    readonly mayCredit: bigint;
    /** Absent if there are too many to list. */
    readonly payments?: readonly OpenPayment[];
  };
}

/** The signed drift, the range of balances that payments in flight allow, and whether they explain it. */
export interface Drift {
  readonly float: bigint;
  /** The rail's balance minus our float. */
  readonly drift: bigint;
  readonly lower: bigint;
  readonly upper: bigint;
  readonly withinRange: boolean;
  readonly finding: DriftFinding;
  /** The payments in flight that give exactly the drift. */
  readonly explainedBy: readonly string[];
  /**
   * How far the balance is above the range, or below it if negative; within the range, the least that no combination of
   * payments gives, either way.
   */
  readonly unexplained: bigint;
}

/** The state of our books about a wallet at one time. */
type WalletBooks = Pick<Measurement, 'after' | 'inFlight'>;

/**
 * Compares a rail's wallet with our float (ADR 28).
 *
 * Balances change during the comparison. What was posted before the question has certainly happened at the rail; what
 * was posted or in flight after the answer may have happened. The lowest possible balance has all credits of the former
 * and all debits of the latter; the highest, the reverse.
 *
 * @param newest the present state of the books, if the answer is older: money that comes back, as by a reversal, moves
 * at the rail before we learn of it, while money that leaves is known before its rail is asked
 */
export function measureDrift(measurement: Measurement, newest: WalletBooks = measurement): Drift {
  const { railBalance, before, after, inFlight } = measurement;
  const float = floatOf(after);
  const lower = before.credits - after.debits - inFlight.mayDebit;
  const upper = newest.after.credits + newest.inFlight.mayCredit - before.debits;
  const outside = railBalance - nearest(railBalance, lower, upper);
  const measured = { float, drift: railBalance - float, lower, upper };
  if (outside !== 0n)
    return {
      ...measured,
      withinRange: false,
      finding: 'out_of_range',
      explainedBy: [],
      unexplained: outside,
    };
  const isQuiet =
    newest === measurement && before.credits === after.credits && before.debits === after.debits;
  const explanation = explainBalance(railBalance, [float, floatOf(before)], inFlight.payments, isQuiet);
  return { ...measured, withinRange: true, ...explanation };
}

function floatOf({ credits, debits }: FloatTotals): bigint {
  return credits - debits;
}

/**
 * The result of several looks at a wallet: the newest look that is explained, or else the newest
 * that its own books show to be unexplained within range, or else the newest that is within range, or else the last one.
 * So what we have learned between them opens no break, however much keeps coming.
 */
export function judgeLooks<Look extends Measurement>(
  last: Look,
  earlier: readonly Look[],
): { readonly look: Look; readonly drift: Drift } {
  const looks = [last, ...earlier.toReversed()];
  const found = looks.map((look) => ({ look, drift: measureDrift(look, last) }));
  const within = found.filter(({ drift }) => drift.withinRange);
  return (
    within.find(({ drift }) => drift.finding === 'explained') ??
    within
      .map(({ look }) => ({ look, drift: measureDrift(look) }))
      .find(({ drift }) => drift.finding === 'unexplained_within_range') ??
    within[0] ?? { look: last, drift: measureDrift(last) }
  );
}

function nearest(value: bigint, lower: bigint, upper: bigint): bigint {
  if (value < lower) return lower;
  return value > upper ? upper : value;
}

/** A rail's balance and our float, in minor units. */
interface Balances {
  readonly railBalance: bigint;
  readonly float: bigint;
}

/**
 * What moved since a wallet was last unexplained, for people to read.
 *
 * @param text formats minor units as an amount of the wallet's currency
 */
export function whyExplained(out: Balances, now: Balances, text: (minor: bigint) => string): string {
  const moves = [
    ["the rail's balance", now.railBalance - out.railBalance],
    ['our float', now.float - out.float],
  ] as const;
  const moved = moves.flatMap(([what, minor]) =>
    minor === 0n ? [] : [`${what} moved by ${minor > 0n ? '+' : ''}${text(minor)}`],
  );
  return `the wallet is explained again: ${moved.join(', ') || 'payments now in flight explain it'}`;
}
