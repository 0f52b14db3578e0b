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
  readonly inFlight: { readonly mayDebit: bigint; readonly mayCredit: bigint };
}

/** The signed drift, and the range of balances that payments in flight explain. */
export interface Drift {
  readonly float: bigint;
  /** The rail's balance minus our float. */
  readonly drift: bigint;
  readonly lower: bigint;
  readonly upper: bigint;
  readonly withinRange: boolean;
  /** How far the balance is above the range, or below it if negative: the unexplained part. */
  readonly unexplained: bigint;
}

/** The state of our books about a wallet at one time. */
export type WalletBooks = Pick<Measurement, 'after' | 'inFlight'>;

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
export function measureDrift(
  { railBalance, before, after, inFlight }: Measurement,
  newest: WalletBooks = { after, inFlight },
): Drift {
  const float = after.credits - after.debits;
  const lower = before.credits - after.debits - inFlight.mayDebit;
  const upper = newest.after.credits + newest.inFlight.mayCredit - before.debits;
  const unexplained = railBalance - nearest(railBalance, lower, upper);
  return { float, drift: railBalance - float, lower, upper, withinRange: unexplained === 0n, unexplained };
}

/**
 * The result of several looks at a wallet: the newest look that is within range by the last one's books, or else the
 * last one. So what we have learned between them opens no break, however much keeps coming.
 */
export function judgeLooks<Look extends Measurement>(
  last: Look,
  earlier: readonly Look[],
): { readonly look: Look; readonly drift: Drift } {
  const found = [last, ...earlier.toReversed()].map((look) => ({ look, drift: measureDrift(look, last) }));
  return found.find(({ drift }) => drift.withinRange) ?? { look: last, drift: measureDrift(last) };
}

function nearest(value: bigint, lower: bigint, upper: bigint): bigint {
  if (value < lower) return lower;
  return value > upper ? upper : value;
}

/** The state of a wallet in a comparison; minor units. */
export interface Standing {
  readonly railBalance: bigint;
  readonly float: bigint;
  /** The total that operators' orders have moved in the float, signed. */
  readonly ordered: bigint;
  readonly unexplained: bigint;
}

/**
 * What brought a wallet back into range, as far as it is known, for people to read.
 *
 * @param text formats minor units as an amount of the wallet's currency
 */
export function whyBackInRange(out: Standing, back: Standing, text: (minor: bigint) => string): string {
  const signed = (minor: bigint) => (minor > 0n ? `+${text(minor)}` : text(minor));
  const atRail = back.railBalance - out.railBalance;
  const ordered = back.ordered - out.ordered;
  const posted = back.float - out.float - ordered;
  const moves = [
    ...(atRail === 0n ? [] : [`the rail's balance moved by ${signed(atRail)}`]),
    ...(posted === 0n ? [] : [`payments moved our float by ${signed(posted)}`]),
    ...(ordered === 0n ? [] : [`operators' orders moved our float by ${signed(ordered)}`]),
  ];
  const cause = moves.length === 0 ? 'payments now in flight explain it' : moves.join(', ');
  return `the wallet is back in range: since ${signed(out.unexplained)} was last unexplained, ${cause}`;
}
