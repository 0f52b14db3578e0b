import { type CollectionRefusal, findCollectionRefusal, replaceInvisible } from '@pesewa/contracts';
import type { CompletionOutcome } from './state.ts';

const REASON_LENGTH_MAX = 140;

/** What merchants see of a rail's refusal that concerns only the request between us and the rail. */
export const DECLINED = 'DECLINED BY OPERATOR';

/** The contract's reasons that concern the collection; all other reasons of the contract concern our request. */
const ofTheCollection: ReadonlySet<string> = new Set<CollectionRefusal>([
  'INVALID AMOUNT',
  'OPERATOR NOT AVAILABLE',
  'INCORRECT OTP',
  'OTP EXPIRED',
  'OTP ATTEMPTS EXCEEDED',
  'COLLECTION CLOSED',
  'COMPLETION NOT REQUIRED',
]);

/** Whether a rail's reason, in capitals, concerns the request that we sent to it. */
export function isRequestRefused(reason: string): boolean {
  return findCollectionRefusal(reason) !== undefined && !ofTheCollection.has(reason);
}

/**
 * A rail's reason as merchants see it: one line of bounded length in capitals, without characters that hide or reverse
 * text.
 *
 * The contract's reasons about requests (`INVALID REQUEST`, `UNAUTHORIZED`…) would seem to be our own, so they are
 * replaced by one text.
 */
export function merchantReason(reason: string): string {
  const line = cleanReason(reason);
  return isRequestRefused(line) ? DECLINED : line;
}

/** A rail's reason as one line of bounded length in capitals; never empty. */
export function cleanReason(reason: string): string {
  const line = replaceInvisible(reason, ' ').replace(/ +/g, ' ').trim().slice(0, REASON_LENGTH_MAX).trim();
  return line === '' ? 'FAILED' : line.toUpperCase();
}

/**
 * What a rail's refusal of a completion, as a clean reason, means: another try, no further one, or that the collection
 * has ended.
 */
export function completionOutcome(
  reason: string,
): Extract<CompletionOutcome, 'refused' | 'refusedForGood' | 'closed'> {
  switch (reason) {
    case 'OTP EXPIRED':
    case 'OTP ATTEMPTS EXCEEDED':
      return 'refusedForGood';
    case 'COLLECTION CLOSED':
      return 'closed';
    default:
      return 'refused';
  }
}
