/** A look at how far the gateways' topics went, to be held against what the ledger has applied; times in milliseconds. */
export interface LedgerLook {
  readonly atMs: number;
  /** Whether the ledger has applied by now all that the topics held then. */
  readonly isPast: boolean;
}

/**
 * What a look comes to:
 *
 * - `level`: what the ledger lacks, it lacks for good; and it trails by less than the grace time.
 * - `past`: the same of the payments that were due at the look; how far it trails by now is not known.
 * - `waiting`: nobody can tell what is missing from what is late.
 * - `behind`: the same, for longer than the grace time.
 */
export type LedgerStanding = 'level' | 'past' | 'waiting' | 'behind';

/**
 * How the ledger stands by a look (ADR 27).
 *
 * Only offsets are compared, and times of one and the same clock: an idle ledger is level however old its newest entry is.
 * Of two replicas that look, the one whose look is older is past wherever the other is: so none says `level` while one
 * may rightly say `behind`.
 */
export function ledgerStanding(
  { atMs, isPast }: LedgerLook,
  { nowMs, graceMs }: { readonly nowMs: number; readonly graceMs: number },
): LedgerStanding {
  const isOld = nowMs - atMs >= graceMs;
  if (isPast) return isOld ? 'past' : 'level';
  return isOld ? 'behind' : 'waiting';
}

/** How many payments wait for the ledger, for people: told anew with each doubling, not with each payment. */
export function waitingText(payments: number): string {
  const atLeast = 2 ** Math.floor(Math.log2(Math.max(1, payments)));
  const waiting = atLeast === 1 ? 'a payment waits' : `at least ${atLeast} payments wait`;
  return `the ledger has not applied what the gateways had published a grace time ago; ${waiting} for its entry`;
}
