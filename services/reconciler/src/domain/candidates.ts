import type { PaymentKind } from '@pesewa/contracts';
import type { TrackedStatus } from './claim.ts';

/** A payment that ended and may explain a comparison's difference; minor units. */
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
 * @param differences what it may be, the likeliest first; signed, positive if the rail has more than our books say
 * @param suspects the newest ends first
 * @param breaks open ones in the wallet's currency
 */
export function candidatesOf(
  differences: readonly bigint[],
  suspects: readonly Suspect[],
  breaks: readonly StandingBreak[],
): readonly Candidate[] {
  const found = new Map<string, Candidate>();
  const add = (reference: string, why: string) => {
    if (!found.has(reference)) found.set(reference, { reference, why });
  };
  for (const difference of differences) {
    const size = difference < 0n ? -difference : difference;
    for (const { reference, kind, amount } of breaks)
      if (amount === size || amount === -size) add(reference, `its break ${kind} is over as much`);
    for (const one of suspects)
      if (mayExplain(one, difference > 0n) && [one.amount, wholeOf(one)].includes(size))
        add(one.reference, `the amount fits: ${one.status} here`);
  }
  return [...found.values()].slice(0, CANDIDATES_MAX);
}

/** The rail's movement for a payment, including the fee. */
function wholeOf({ kind, amount, railFee }: Suspect): bigint {
  return kind === 'payout' ? amount + railFee : amount - railFee;
}

/** Whether a payment can be why the rail has more, or less: one that moved nothing here only explains its own movement. */
function mayExplain({ kind, status }: Suspect, hasMore: boolean): boolean {
  return status === 'completed' || status === 'reversed' || (kind === 'collection') === hasMore;
}
