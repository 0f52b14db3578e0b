import { accept, refuse } from '@pesewa/kernel';
import type {
  CollectionDomainEvent,
  CollectionState,
  CollectionStateRefusal,
  CompletionOutcome,
  Decision,
} from './state.ts';

/** How many OTPs of one collection are passed on to the rail, and for how long (contract 10.12). */
export const OTP_ATTEMPTS_MAX = 3;
export const OTP_WINDOW_MS = 5 * 60_000;

/** How many completions without an OTP are passed on: there is nothing to guess, but each is a call to the rail. */
const COMPLETIONS_MAX = 10;

/**
 * Whether a completion may be passed on; only one at a time may.
 *
 * An unclear initiation may have reached the customer, so it may be completed (contract 10.12). A completion in progress
 * is judged before the number of tries and their time, because its outcome may make further ones unnecessary.
 */
export function decideCompletion(
  request: { readonly nowMs: number; readonly leaseMs: number },
  state: CollectionState,
): Decision {
  const { flow } = state.order;
  if (flow.kind !== 'otp' && flow.kind !== 'stkThenComplete')
    return refuse('collection.completion_not_required');
  if (state.status !== 'PENDING') return refuse('collection.closed');
  if (state.step === 'completing') return refuse('collection.completing');
  if (state.step === 'queued') return refuse('collection.not_initiated');
  if (state.step === 'abandoned') return refuse('collection.closed');
  const { completionLease: lease } = state;
  if (lease !== null && request.nowMs < lease.untilMs) return refuse('collection.completion_under_way');
  const used = usedUp(state, request.nowMs);
  if (used) return refuse(used);
  return accept([{ kind: 'completionRequested', leaseUntilMs: request.nowMs + request.leaseMs }]);
}

/** Why no further completion is passed on; undefined if one may be. */
function usedUp(state: CollectionState, nowMs: number): CollectionStateRefusal | undefined {
  if (state.order.flow.kind !== 'otp')
    return wasLast(state) || state.completionClosed ? 'collection.completions_exceeded' : undefined;
  if (wasLast(state)) return 'collection.otp_attempts_exceeded';
  return state.completionClosed || nowMs - state.attemptedAtMs > OTP_WINDOW_MS
    ? 'collection.otp_expired'
    : undefined;
}

function wasLast({ order, completionAttempts }: CollectionState): boolean {
  return completionAttempts >= (order.flow.kind === 'otp' ? OTP_ATTEMPTS_MAX : COMPLETIONS_MAX);
}

/**
 * Records the rail's answer to a completion.
 *
 * A try that was certainly not sent does not count. After one that was accepted, or found closed at the rail, no
 * further try is needed, whichever request holds the lock now; after a final refusal none is allowed. Any other
 * outcome counts only for its own token, so that a late one does not end another's lease.
 */
export function recordCompletion(
  outcome: CompletionOutcome,
  token: bigint,
  state: CollectionState,
): Decision {
  if (state.status !== 'PENDING') return refuse('collection.closed');
  const closed: readonly CollectionDomainEvent[] = state.completionClosed
    ? []
    : [{ kind: 'completionClosed' }];
  if (outcome === 'acknowledged' || outcome === 'closed') {
    if (state.step === 'completing') return refuse('collection.already_there');
    return accept([{ kind: 'completionAcknowledged' }, ...(outcome === 'closed' ? closed : [])]);
  }
  const isOurs = state.completionLease?.token === token;
  if (!isOurs && (outcome !== 'refusedForGood' || closed.length === 0))
    return refuse('collection.stale_attempt');
  if (outcome === 'notSent') return accept([{ kind: 'completionReturned' }]);
  const refused: readonly CollectionDomainEvent[] = isOurs ? [{ kind: 'completionRefused' }] : [];
  return accept([...refused, ...(outcome === 'refusedForGood' || wasLast(state) ? closed : [])]);
}

/**
 * Records, once, that no further completion is passed on: the rail is then asked, and its answer ends the collection.
 */
export function closeCompletion(state: CollectionState): Decision {
  if (state.status !== 'PENDING') return refuse('collection.closed');
  if (state.completionClosed) return refuse('collection.already_there');
  return accept([{ kind: 'completionClosed' }]);
}
