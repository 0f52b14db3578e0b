/** A reading of the gateways' topics' ends, to compare with what the ledger has applied; times in milliseconds. */
export interface LedgerLook {
  readonly atMs: number;
  /** Whether the ledger has by now applied everything that the topics held then. */
  readonly isPast: boolean;
}

/**
 * The result of such a reading:
 *
 * - `level`: entries that are missing are missing for good; and the ledger lags by less than the grace time.
 * - `past`: the same for payments that were due at the reading; the present lag is unknown.
 * - `waiting`: missing entries can't be distinguished from late ones.
 * - `behind`: the same, for longer than the grace time.
 */
export type LedgerStanding = 'level' | 'past' | 'waiting' | 'behind';

/**
 * The ledger's standing by a reading (ADR 27).
 *
 * Only offsets are compared, and times of the same clock: an idle ledger is level however old its newest entry is. Of
 * two replicas the one with the older reading is past wherever the other one is, so none gives `level` while another
 * may correctly give `behind`.
 */
export function ledgerStanding(
  { atMs, isPast }: LedgerLook,
  { nowMs, graceMs }: { readonly nowMs: number; readonly graceMs: number },
): LedgerStanding {
  const isOld = nowMs - atMs >= graceMs;
  if (isPast) return isOld ? 'past' : 'level';
  return isOld ? 'behind' : 'waiting';
}

/** How many payments wait for the ledger, for people to read; it changes with each doubling, not with each payment. */
export function waitingText(payments: number): string {
  const atLeast = 2 ** Math.floor(Math.log2(Math.max(1, payments)));
  const waiting = atLeast === 1 ? 'a payment waits' : `at least ${atLeast} payments wait`;
  return `the ledger has not applied what the gateways had published a grace time ago; ${waiting} for its entry`;
}
