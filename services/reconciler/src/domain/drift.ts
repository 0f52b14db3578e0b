/** What ever went into and out of our float at a rail in one currency, by the ledger; minor units, both only grow. */
export interface FloatTotals {
  readonly credits: bigint;
  readonly debits: bigint;
}

/** What one look at a rail's wallet is judged by; minor units of one currency. */
export interface Measurement {
  readonly railBalance: bigint;
  /** The totals before the rail was asked. */
  readonly before: FloatTotals;
  /** The totals after its answer, read after what was in flight. */
  readonly after: FloatTotals;
  readonly inFlight: { readonly mayDebit: bigint; readonly mayCredit: bigint };
}

/** The signed drift, and the range of the rail's balance that what is in flight explains. */
export interface Drift {
  readonly float: bigint;
  /** The rail's balance minus our float. */
  readonly drift: bigint;
  readonly lower: bigint;
  readonly upper: bigint;
  readonly withinRange: boolean;
  /** How far the balance is above the range, or below it as a negative: what nothing explains. */
  readonly unexplained: bigint;
}

/** What our books tell of a wallet at a time. */
export type Books = Pick<Measurement, 'after' | 'inFlight'>;

/**
 * Judges a rail's wallet against our float (ADR 28).
 *
 * Balances move while we look. What was posted before the question had certainly happened at the rail; what was posted
 * or in flight after the answer is all that may have happened: the lowest balance has every credit of the former and
 * every debit of the latter, the highest the reverse.
 *
 * @param newest what the books tell by now, where the answer is older: we learn of money that comes back, as of a reversal, after
 * the rail has moved it; of money that leaves before its rail is asked
 */
export function measureDrift(
  { railBalance, before, after, inFlight }: Measurement,
  newest: Books = { after, inFlight },
): Drift {
  const float = after.credits - after.debits;
  const lower = before.credits - after.debits - inFlight.mayDebit;
  const upper = newest.after.credits + newest.inFlight.mayCredit - before.debits;
  const unexplained = railBalance - nearest(railBalance, lower, upper);
  return { float, drift: railBalance - float, lower, upper, withinRange: unexplained === 0n, unexplained };
}

/**
 * Where a wallet stands by several looks: as of the newest that is within range by what the last one's books tell, as the last
 * one says where none is. So what we have learnt between them opens nothing, however much of it keeps coming.
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

/** Where a wallet stood in a comparison; minor units. */
export interface Standing {
  readonly railBalance: bigint;
  readonly float: bigint;
  /** What operators' orders have moved in the float in all, signed. */
  readonly ordered: bigint;
  readonly unexplained: bigint;
}

/**
 * What brought a wallet back into its range, as far as it can be told, for people.
 *
 * @param text writes minor units as an amount of the wallet's currency
 */
export function causeOf(out: Standing, back: Standing, text: (minor: bigint) => string): string {
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
