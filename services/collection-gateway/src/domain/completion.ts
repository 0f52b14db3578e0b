import { accept, refuse } from '@pesewa/kernel';
import type { CollectionHappening, CollectionState, CompletionOutcome, Decision } from './state.ts';

/** How many OTPs of one collection are passed on to the rail, and for how long (design 9). */
export const OTP_ATTEMPTS_MAX = 3;
export const OTP_WINDOW_MS = 5 * 60_000;

/**
 * Whether a completion may be passed on, one at a time.
 *
 * An unclear initiation may have reached the customer, so it may be completed (design 9). That another one is under way
 * is judged before the number of tries and their time: its outcome may be that none is needed.
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
  const { completionLease: lease } = state;
  if (lease !== null && request.nowMs < lease.untilMs) return refuse('collection.completion_under_way');
  if (flow.kind === 'otp') {
    if (state.completionAttempts >= OTP_ATTEMPTS_MAX) return refuse('collection.otp_attempts_exceeded');
    if (request.nowMs - state.attemptedAtMs > OTP_WINDOW_MS) return refuse('collection.otp_expired');
  }
  return accept([{ kind: 'completionRequested', leaseUntilMs: request.nowMs + request.leaseMs }]);
}

/**
 * What the rail's answer to a completion comes to.
 *
 * What was certainly not sent used up no try; what was accepted needs no other, whoever's turn it is meanwhile. Any other
 * outcome counts for its own turn alone, so that a late one takes nobody else's lease away.
 */
export function recordCompletion(outcome: CompletionOutcome, turn: bigint, state: CollectionState): Decision {
  if (state.status !== 'PENDING') return refuse('collection.closed');
  if (outcome === 'accepted') {
    return state.step === 'completing'
      ? refuse('collection.already_there')
      : accept([{ kind: 'completionAccepted' }]);
  }
  if (state.completionLease?.turn !== turn) return refuse('collection.stale_attempt');
  if (outcome === 'notSent') return accept([{ kind: 'completionReturned' }]);
  const refused: CollectionHappening = { kind: 'completionRefused' };
  const wasLast = state.order.flow.kind === 'otp' && state.completionAttempts >= OTP_ATTEMPTS_MAX;
  return accept(wasLast && !state.completionClosed ? [refused, { kind: 'completionClosed' }] : [refused]);
}

/** Tells, once, that no further completion is passed on: the rail is to be asked, and its answer ends the collection. */
export function closeCompletion(state: CollectionState): Decision {
  if (state.status !== 'PENDING') return refuse('collection.closed');
  if (state.completionClosed) return refuse('collection.already_there');
  return accept([{ kind: 'completionClosed' }]);
}
