import { readFailureReason } from '@pesewa/contracts';
import { type Claim, claimedEnd, isOwn, newestAtMs } from './claim.ts';
import type { Terms, Tracked } from './tracked.ts';
import { currencyOf, readMinor } from './values.ts';

/**
 * How many different claims are kept of each sort.
 *
 * More than the eight proven claims that may all be of the requested amount before the terms are known (with and without
 * an amount, a currency and a fee): so whatever is dropped, a differing one is among those that are kept.
 */
const KEPT_MAX = 9;

/**
 * Adds a claim unless one of the same value is known, and keeps the list bounded.
 *
 * The limit applies separately to each rail and kind, to hints and proven claims, and to each end, so that a flood of
 * one sort takes no room from another. A claim that is not kept updates the time of those of its sort: it may be the
 * true one and may still be confirmed.
 */
export function addClaim(claims: readonly Claim[], claim: Claim, terms: Terms | null): readonly Claim[] {
  const { alike, isKept } = place(claims, claim, terms);
  const renewed = claims.map((other) => (alike.includes(other) ? renewedBy(other, claim) : other));
  return isKept ? [...renewed, claim] : renewed;
}

/** Whether a claim was seen before, or is older than a later one of its sort; every claim that would be kept is news. */
export function isRepeatedClaim(
  { callbacks, terms }: Pick<Tracked, 'callbacks' | 'terms'>,
  claim: Claim,
): boolean {
  const { alike, isKept } = place(callbacks, claim, terms);
  return !isKept && alike.some((other) => newestAtMs(other) >= claim.atMs);
}

/** The claims of the same sort, and whether this one has a new value for which there is room. */
function place(claims: readonly Claim[], claim: Claim, terms: Terms | null) {
  const end = claimedEnd(claim);
  const alike = claims.filter(
    (other) => isOwn(other, claim) && other.proven === claim.proven && claimedEnd(other) === end,
  );
  const values = new Set(alike.map((other) => valueOf(other, terms)));
  return { alike, isKept: !values.has(valueOf(claim, terms)) && values.size < KEPT_MAX };
}

function renewedBy(known: Claim, claim: Claim): Claim {
  const lastAtMs = newestAtMs(claim);
  return lastAtMs > newestAtMs(known) ? { ...known, lastAtMs } : known;
}

/** The claims to keep once the terms of their payment become known. */
export function claimsUnder(terms: Terms, claims: readonly Claim[]): readonly Claim[] {
  return claims.reduce<readonly Claim[]>((kept, claim) => addClaim(kept, claim, terms), []);
}

/**
 * What two claims of one sort must share to count as the same: for a failure the reason, for any other end amount and
 * currency, and whether a proven one names a fee; of another rail than the payment's own nothing else.
 */
function valueOf(claim: Claim, terms: Terms | null): string {
  const end = claimedEnd(claim);
  if (end === undefined || (terms !== null && !isOwn(claim, terms))) return '';
  if (end === 'failed') return claim.reason === null ? '' : (readFailureReason(claim.reason) ?? 'any other');
  const hasFee = claim.proven && claim.fee !== null;
  return `${numberOf(claim.amount, terms)} ${currencyOf(claim) ?? terms?.currency ?? ''} ${hasFee}`;
}

/** A number by its value, however it is written; in minor units if the currency is known. */
function numberOf(text: string | null, terms: Terms | null): string {
  if (text === null) return 'none';
  return terms === null ? String(Number(text)) : String(readMinor(text, terms) ?? 'unreadable');
}
