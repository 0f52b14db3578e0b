import { type CollectionRefusal, collectionRefusals } from '@pesewa/contracts';
import type { CompletionOutcome } from './state.ts';

const REASON_LENGTH_MAX = 140;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** A rail's refusal that speaks of the request between us and it: the merchant has nothing to do with that. */
export const DECLINED = 'DECLINED BY OPERATOR';

/** What a rail may say of a collection in words of the contract; all other words of it are about the request itself. */
const ofTheCollection: ReadonlySet<string> = new Set<CollectionRefusal>([
  'INVALID AMOUNT',
  'OPERATOR NOT AVAILABLE',
  'INCORRECT OTP',
  'OTP EXPIRED',
  'OTP ATTEMPTS EXCEEDED',
  'COLLECTION CLOSED',
  'COMPLETION NOT REQUIRED',
]);

/** Whether a rail's reason, in capitals, is about the request that we sent to it. */
export function isOfTheRequest(reason: string): boolean {
  return Object.hasOwn(collectionRefusals, reason) && !ofTheCollection.has(reason);
}

/**
 * A rail's reason as merchants are told it: one bounded line in capitals, without what hides or turns round text.
 *
 * What the contract says of requests (`INVALID REQUEST`, `UNAUTHORIZED`…) would be read as ours, so it is one text.
 */
export function toldReason(reason: string): string {
  const line = cleanReason(reason);
  return isOfTheRequest(line) ? DECLINED : line;
}

/** A rail's reason as one bounded line in capitals; never empty. */
export function cleanReason(reason: string): string {
  const line = reason.replaceAll(UNSEEN, ' ').replace(/ +/g, ' ').trim().slice(0, REASON_LENGTH_MAX).trim();
  return line === '' ? 'FAILED' : line.toUpperCase();
}

/** What a rail's refusal of a completion, a clean reason, comes to: another try, none any more, or an end already. */
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
