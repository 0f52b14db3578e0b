import { accept, refuse } from '@pesewa/kernel';
import type {
  CollectionHappening,
  CollectionState,
  CollectionStateRefusal,
  CompletionOutcome,
  Decision,
} from './state.ts';

/** How many OTPs of one collection are passed on to the rail, and for how long (contract 10.12). */
export const OTP_ATTEMPTS_MAX = 3;
export const OTP_WINDOW_MS = 5 * 60_000;

/** How many completions without an OTP are passed on: nobody guesses them, but each is a call to the rail. */
const COMPLETIONS_MAX = 10;

/**
 * Whether a completion may be passed on, one at a time.
 *
 * An unclear initiation may have reached the customer, so it may be completed (contract 10.12). That another one is under way
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
  if (state.step === 'abandoned') return refuse('collection.closed');
  const { completionLease: lease } = state;
  if (lease !== null && request.nowMs < lease.untilMs) return refuse('collection.completion_under_way');
  const used = usedUp(state, request.nowMs);
  if (used) return refuse(used);
  return accept([{ kind: 'completionRequested', leaseUntilMs: request.nowMs + request.leaseMs }]);
}

/** Why no further completion is passed on, or nothing where one may be. */
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
 * What the rail's answer to a completion comes to.
 *
 * What was certainly not sent used up no try; what was accepted, or is closed at the rail, needs no other, whoever's turn
 * it is meanwhile, and what was refused for good allows none. Any other outcome counts for its own turn alone, so that a
 * late one takes nobody else's lease away.
 */
export function recordCompletion(outcome: CompletionOutcome, turn: bigint, state: CollectionState): Decision {
  if (state.status !== 'PENDING') return refuse('collection.closed');
  const closed: readonly CollectionHappening[] = state.completionClosed ? [] : [{ kind: 'completionClosed' }];
  if (outcome === 'accepted' || outcome === 'closed') {
    if (state.step === 'completing') return refuse('collection.already_there');
    return accept([{ kind: 'completionAccepted' }, ...(outcome === 'closed' ? closed : [])]);
  }
  const isOurs = state.completionLease?.turn === turn;
  if (!isOurs && (outcome !== 'refusedForGood' || closed.length === 0))
    return refuse('collection.stale_attempt');
  if (outcome === 'notSent') return accept([{ kind: 'completionReturned' }]);
  const refused: readonly CollectionHappening[] = isOurs ? [{ kind: 'completionRefused' }] : [];
  return accept([...refused, ...(outcome === 'refusedForGood' || wasLast(state) ? closed : [])]);
}

/** Tells, once, that no further completion is passed on: the rail is to be asked, and its answer ends the collection. */
export function closeCompletion(state: CollectionState): Decision {
  if (state.status !== 'PENDING') return refuse('collection.closed');
  if (state.completionClosed) return refuse('collection.already_there');
  return accept([{ kind: 'completionClosed' }]);
}
