import { readFailureReason } from '@pesewa/contracts';
import { claimedEnd, isOwn } from './claim.ts';
import type { Question } from './question.ts';

/** What a rail says that tells of a failure no more than that it is one (contract 2.10). */
const NO_REASON = 'FAILED';

/**
 * Why a collection failed, which check-status can't tell: by the rail's own callbacks where it tells nothing else.
 *
 * Anyone may have written them, so only a known word is taken, and only where all that name one agree; what the rail has
 * proven stands against hints.
 */
export function failureReason({ tracked, terms }: Question, told: string): string {
  if (terms.kind !== 'collection' || told.toUpperCase() !== NO_REASON) return told;
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

/** Whether a callback says more than that it failed. */
function isReason(text: string | null): text is string {
  return text !== null && text.trim() !== '' && text.trim().toUpperCase() !== NO_REASON;
}
