import type { PayoutStatus } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';

/** The reason of a cancelled payout, which its merchant reads. */
export const CANCELLED = 'Cancelled before it was sent';

/** What a cancellation leads to. */
export type CancellationDomainEvent =
  /** The ledger has not answered for its hold yet: it ends when that comes, so that the hold is given back. */
  | { readonly kind: 'cancelRequested'; readonly by: string }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly byOperators?: never;
      readonly cancelledBy: string;
    };

/** Why a payout is not cancelled; `already_there` if it is. */
export type CancellationRefusal = 'payout.already_there' | 'payout.ended' | 'payout.maybe_sent';

/** The part of a payout that a cancellation depends on. */
interface CancellationContext {
  readonly status: PayoutStatus;
  readonly step: string;
  readonly earlierUnclear: boolean;
  readonly recipientKnown: boolean;
  readonly statusReason: string | null;
  readonly cancelRequestedBy: string | null;
}

/**
 * Cancels a payout of which it is certain that no attempt has left for its rail (ADR 84).
 *
 * An attempt that was given back before its call leaves the payout `held` without anything unclear.
 */
export function decideCancellation(
  by: string,
  state: CancellationContext,
): Result<readonly CancellationDomainEvent[], CancellationRefusal> {
  if (state.status !== 'INITIALIZED')
    return refuse(
      state.status === 'FAILED' && state.statusReason === CANCELLED ? 'payout.already_there' : 'payout.ended',
    );
  // What was brought back without its recipient may have been sent before.
  if (state.earlierUnclear || !state.recipientKnown) return refuse('payout.maybe_sent');
  if (state.step === 'held') return accept([cancelled(by)]);
  if (state.step !== 'awaitingHold') return refuse('payout.maybe_sent');
  return state.cancelRequestedBy === null
    ? accept([{ kind: 'cancelRequested', by }])
    : refuse('payout.already_there');
}

/** The end of a cancelled payout; the merchant does not learn who cancelled it. */
export function cancelled(by: string): CancellationDomainEvent {
  return { kind: 'failed', reason: CANCELLED, cancelledBy: by };
}
