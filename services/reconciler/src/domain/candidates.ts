import type { PaymentKind } from '@pesewa/contracts';
import type { TrackedStatus } from './claim.ts';

/** A payment that may explain a comparison's difference; minor units. */
export interface Suspect {
  readonly reference: string;
  readonly kind: PaymentKind;
  readonly status: TrackedStatus;
  readonly amount: bigint;
  readonly railFee: bigint;
}

/** An open break, with its amount in minor units. */
export interface StandingBreak {
  readonly reference: string;
  readonly kind: string;
  readonly amount: bigint | null;
}

/** A payment that could explain a wallet out of range, and how. */
export interface Candidate {
  readonly reference: string;
  readonly why: string;
}

/** The most candidates that a comparison names. */
export const CANDIDATES_MAX = 20;
/**
 * The payments that could explain a comparison's difference, the likeliest first (ADR 28); empty if none fits.
 *
 * First come those with a break of the same amount, then those that fit exactly, with the rail's fee or without it.
 *
 * @param unexplained signed: positive if the rail has more than our books say
 * @param suspects the newest ends first
 * @param breaks open ones in the wallet's currency
 */
export function candidatesOf(
  unexplained: bigint,
  suspects: readonly Suspect[],
  breaks: readonly StandingBreak[],
): readonly Candidate[] {
  if (unexplained === 0n) return [];
  const size = unexplained < 0n ? -unexplained : unexplained;
  const possible = suspects.filter((suspect) => mayExplain(suspect, unexplained > 0n));
  const fitting = (part: string, amountOf: (suspect: Suspect) => bigint) =>
    possible
      .filter((suspect) => amountOf(suspect) === size)
      .map(({ reference, status }) => ({ reference, why: `${part} fits: ${status} here` }));
  const found = [
    ...breaks
      .filter(({ amount }) => amount === size || amount === -size)
      .map(({ reference, kind }) => ({ reference, why: `its break ${kind} is over as much` })),
    ...fitting('amount and fee', wholeOf),
    ...fitting('the amount', ({ amount }) => amount),
  ];
  const references = new Set(found.map(({ reference }) => reference));
  return [...references]
    .slice(0, CANDIDATES_MAX)
    .flatMap((reference) => found.find((one) => one.reference === reference) ?? []);
}

/** The rail's movement for a payment, including the fee. */
function wholeOf({ kind, amount, railFee }: Suspect): bigint {
  return kind === 'payout' ? amount + railFee : amount - railFee;
}

/** Whether a payment can be why the rail has more, or less: one that moved nothing here only explains its own movement. */
function mayExplain({ kind, status }: Suspect, hasMore: boolean): boolean {
  return status === 'completed' || status === 'reversed' || (kind === 'collection') === hasMore;
}
