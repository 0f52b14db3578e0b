import { readFailureReason } from '@pesewa/contracts';
import { claimedEnd, isOwn } from './claim.ts';
import type { Evidence } from './judging.ts';

/** A rail's reason that says only that the payment failed (contract 2.10). */
const NO_REASON = 'FAILED';

/**
 * Why a collection failed. Check-status can't report it, so it is taken from the rail's callbacks if there is no other
 * reason.
 *
 * Anybody may have written those, so only a known word is used, and only if all callbacks with a reason agree; a proven
 * one outranks hints.
 */
export function failureReason({ tracked, terms }: Evidence, reported: string): string {
  if (terms.kind !== 'collection' || reported.toUpperCase() !== NO_REASON) return reported;
  const named = tracked.callbacks.filter(
    (claim) => isOwn(claim, terms) && claimedEnd(claim) === 'failed' && isReason(claim.reason),
  );
  const proven = named.filter((claim) => claim.proven);
  const words = new Set(
    (proven.length > 0 ? proven : named).map(({ reason }) => readFailureReason(reason ?? '')),
  );
  const [word] = words;
  return words.size === 1 && word !== undefined ? word : NO_REASON;
}

/** Whether a callback's reason says more than that the payment failed. */
function isReason(text: string | null): text is string {
  return text !== null && text.trim() !== '' && text.trim().toUpperCase() !== NO_REASON;
}
