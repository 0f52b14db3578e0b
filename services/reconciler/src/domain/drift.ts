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
}

/**
 * Judges a rail's wallet against our float (design 7).
 *
 * Balances move while we look. What was posted before the question had certainly happened at the rail; what was posted
 * or in flight after the answer is all that may have happened: the lowest balance has every credit of the former and
 * every debit of the latter, the highest the reverse.
 */
export function measureDrift({ railBalance, before, after, inFlight }: Measurement): Drift {
  const float = after.credits - after.debits;
  const lower = before.credits - after.debits - inFlight.mayDebit;
  const upper = after.credits + inFlight.mayCredit - before.debits;
  return {
    float,
    drift: railBalance - float,
    lower,
    upper,
    withinRange: lower <= railBalance && railBalance <= upper,
  };
}
