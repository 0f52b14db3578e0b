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
/** Pairs are searched among at most this many suspects, in one pass. */
const PAIRED_MAX = 5_000;

/**
 * The payments that could explain a comparison's difference, the likeliest first (ADR 28); empty if none fits.
 *
 * First come those with a break of the same amount; then those that fit exactly, with the rail's fee or without it;
 * then two that fit together; then those whose fee alone fits.
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
  const known = [...new Map(suspects.map((suspect) => [suspect.reference, suspect])).values()];
  const explained = known.flatMap((suspect) => {
    const reason = reasonOf(suspect, unexplained > 0n);
    return reason === undefined ? [] : [{ suspect, reason }];
  });
  const size = unexplained < 0n ? -unexplained : unexplained;
  const found = new Map<string, string>();
  const add = (reference: string, why: string) => {
    if (found.size < CANDIDATES_MAX && !found.has(reference)) found.set(reference, why);
  };
  if (size > 0n) {
    for (const { reference, kind, amount } of breaks)
      if (amount === size || amount === -size) add(reference, `its break ${kind} is over as much`);
    for (const { part, fits } of singleFits(size))
      for (const { suspect, reason } of explained)
        if (fits(suspect)) add(suspect.reference, `${part} fits: ${reason}`);
    for (const [{ suspect: one, reason }, { suspect: other, reason: otherReason }] of pairsOf(
      explained,
      size,
    )) {
      add(one.reference, `fits together with ${other.reference}: ${reason}`);
      add(other.reference, `fits together with ${one.reference}: ${otherReason}`);
    }
    for (const { reference, railFee } of known)
      if (railFee === size) add(reference, "the rail's fee fits: it may have charged another");
  }
  return [...found].map(([reference, why]) => ({ reference, why }));
}

/** The rail's movement for a payment, including the fee. */
function wholeOf({ kind, amount, railFee }: Suspect): bigint {
  return kind === 'payout' ? amount + railFee : amount - railFee;
}

function singleFits(size: bigint) {
  return [
    { part: 'amount and fee', fits: (suspect: Suspect) => wholeOf(suspect) === size },
    { part: 'the amount', fits: ({ amount }: Suspect) => amount === size },
  ];
}

interface Explained {
  readonly suspect: Suspect;
  readonly reason: string;
}

function pairsOf(
  explained: readonly Explained[],
  size: bigint,
): readonly (readonly [Explained, Explained])[] {
  const pairs: [Explained, Explained][] = [];
  const earlier = new Map<bigint, Explained>();
  for (const one of explained.slice(0, PAIRED_MAX)) {
    const other = earlier.get(size - wholeOf(one.suspect));
    if (other) pairs.push([other, one]);
    if (pairs.length * 2 >= CANDIDATES_MAX) break;
    earlier.set(wholeOf(one.suspect), one);
  }
  return pairs;
}

/** What must have happened for a payment to explain why the rail has more, or less; undefined if it can't. */
function reasonOf({ kind, status }: Suspect, hasMore: boolean): string | undefined {
  if (kind === 'payout') {
    if (status === 'completed')
      return hasMore
        ? 'completed here; the rail may not have paid it, or have taken it back'
        : 'completed here; the rail may have paid it twice';
    if (status === 'reversed')
      return hasMore
        ? 'reversed here; the rail may have given it back twice'
        : 'reversed here; the rail may not have given it back';
    if (status === 'failed') return hasMore ? undefined : 'failed here; the rail may have paid it';
    return hasMore ? undefined : 'open here; the rail may have paid it twice';
  }
  if (status === 'completed')
    return hasMore
      ? 'completed here; the rail may have it twice'
      : 'completed here; the rail may not have it';
  if (status === 'failed') return hasMore ? 'failed here; the rail may have it' : undefined;
  return hasMore ? 'open here; the rail may have it twice' : undefined;
}
