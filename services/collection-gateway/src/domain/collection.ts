import { accept, type Decider, type Result, refuse, unreachable } from '@pesewa/kernel';
import type { CollectionOrder } from './initiation.ts';

/** Where a collection stands, as merchants know it (contract 3.2). */
export type CollectionStatus = 'PENDING' | 'COMPLETED' | 'FAILED';

/** The inner steps of a PENDING collection, never shown outside (design 4). */
export type CollectionStep =
  | 'initiating'
  | 'queued'
  | 'unknown'
  | 'awaitingOtp'
  | 'awaitingCustomer'
  | 'awaitingCompletion'
  | 'completing'
  | 'ended';

/** A collection's order, and the part of it that changes in its life. */
export interface CollectionState {
  readonly order: CollectionOrder;
  readonly status: CollectionStatus;
  readonly step: CollectionStep;
  /** Grows by one with every change. */
  readonly version: bigint;
  /** How often the rail was asked to initiate, always with the same reference. */
  readonly attempts: number;
  /** Whether an earlier attempt was unclear, so that it may still be executed behind the newest one. */
  readonly earlierUnclear: boolean;
  /** When the newest attempt was committed, in milliseconds since the epoch. */
  readonly attemptedAtMs: number;
  /** When a queued collection is to be initiated again; null while nothing is to be done. */
  readonly dueAtMs: number | null;
  /** How many completions were passed on to the rail. */
  readonly completionAttempts: number;
  /** The rail's own fee in minor units: by its schedule until it tells. */
  readonly railFee: bigint;
  readonly failureReason: string | null;
}

/** What the rail made of an initiation (design 6). */
export type InitiationOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'notSent'; readonly retryAtMs: number };

/** A fact from the rail (design 6); amount and fee in minor units, null where nobody told. */
export interface CollectionFact {
  readonly status: 'completed' | 'failed' | 'reversed' | 'notFound';
  readonly amount: bigint | null;
  readonly fee: bigint | null;
  readonly reason: string;
  readonly polledAtMs: number;
}

/** What can be asked of a collection. */
export type CollectionCommand =
  | { readonly kind: 'recordInitiation'; readonly attempt: number; readonly outcome: InitiationOutcome }
  | { readonly kind: 'requestCompletion'; readonly nowMs: number }
  | { readonly kind: 'recordCompletion'; readonly outcome: 'accepted' | 'notSent' }
  | { readonly kind: 'observe'; readonly fact: CollectionFact; readonly resubmitGraceMs: number };

/** What happened to a collection. */
export type CollectionHappening =
  | { readonly kind: 'initiationAccepted' }
  | { readonly kind: 'initiationUnclear' }
  /** `unclear`: an attempt was made whose end nobody knows. */
  | { readonly kind: 'requeued'; readonly dueAtMs: number; readonly unclear: boolean }
  | { readonly kind: 'completionRequested' }
  | { readonly kind: 'completionAccepted' }
  | { readonly kind: 'completionReturned' }
  | { readonly kind: 'completed'; readonly railFee: bigint }
  | { readonly kind: 'failed'; readonly reason: string };

/** Why a command changes nothing. */
export type CollectionStateRefusal =
  | 'collection.already_there'
  | 'collection.stale_attempt'
  | 'collection.grace_not_over'
  | 'collection.amount_differs'
  | 'collection.contradiction'
  | 'collection.closed'
  | 'collection.completion_not_required'
  | 'collection.completing'
  | 'collection.not_initiated'
  | 'collection.otp_expired'
  | 'collection.otp_attempts_exceeded';

type Decision = Result<readonly CollectionHappening[], CollectionStateRefusal>;

/** How many OTPs of one collection are passed on to the rail, and for how long (design 9). */
export const OTP_ATTEMPTS_MAX = 3;
export const OTP_WINDOW_MS = 5 * 60_000;

/** A new collection whose first attempt is committed with it: a crash before the call leaves it `initiating`. */
export function initiated(terms: {
  readonly order: CollectionOrder;
  readonly railFee: bigint;
  readonly nowMs: number;
}): CollectionState {
  return {
    order: terms.order,
    status: 'PENDING',
    step: 'initiating',
    version: 1n,
    attempts: 1,
    earlierUnclear: false,
    attemptedAtMs: terms.nowMs,
    dueAtMs: null,
    completionAttempts: 0,
    railFee: terms.railFee,
    failureReason: null,
  };
}

function decide(command: CollectionCommand, state: CollectionState): Decision {
  switch (command.kind) {
    case 'recordInitiation':
      return decideInitiation(command.outcome, command.attempt, state);
    case 'requestCompletion':
      return decideCompletion(command.nowMs, state);
    case 'recordCompletion':
      return recordCompletion(command.outcome, state);
    case 'observe':
      return decideFact(command.fact, command.resubmitGraceMs, state);
    default:
      return unreachable(command);
  }
}

function decideInitiation(outcome: InitiationOutcome, attempt: number, state: CollectionState): Decision {
  if (state.step !== 'initiating' || state.attempts !== attempt) return refuse('collection.stale_attempt');
  switch (outcome.kind) {
    case 'accepted':
      return accept([{ kind: 'initiationAccepted' }]);
    case 'unknown':
      return accept([{ kind: 'initiationUnclear' }]);
    case 'failed':
      // An earlier attempt that was unclear may still be executed, so this refusal is not final: the status check decides. Where that says NOT FOUND, the collection is initiated and refused again
      // after every grace time until people settle it as stuck, which is better than to call one failed that the
      // customer may still pay.
      if (state.earlierUnclear) return accept([{ kind: 'initiationUnclear' }]);
      return accept([{ kind: 'failed', reason: outcome.reason }]);
    case 'notSent':
      return accept([{ kind: 'requeued', dueAtMs: outcome.retryAtMs, unclear: false }]);
    default:
      return unreachable(outcome);
  }
}

/** Whether a completion may be passed on; an unclear initiation may have reached the customer, so it may (design 9). */
function decideCompletion(nowMs: number, state: CollectionState): Decision {
  const { flow } = state.order;
  if (flow.kind !== 'otp' && flow.kind !== 'stkThenComplete')
    return refuse('collection.completion_not_required');
  if (state.status !== 'PENDING') return refuse('collection.closed');
  if (state.step === 'completing') return refuse('collection.completing');
  if (state.step === 'queued') return refuse('collection.not_initiated');
  if (flow.kind === 'otp') {
    if (state.completionAttempts >= OTP_ATTEMPTS_MAX) return refuse('collection.otp_attempts_exceeded');
    if (nowMs - state.attemptedAtMs > OTP_WINDOW_MS) return refuse('collection.otp_expired');
  }
  return accept([{ kind: 'completionRequested' }]);
}

/** What was certainly not sent used up no try; what was accepted needs no other. */
function recordCompletion(outcome: 'accepted' | 'notSent', state: CollectionState): Decision {
  if (state.status !== 'PENDING') return refuse('collection.closed');
  if (outcome === 'notSent') {
    return state.completionAttempts === 0
      ? refuse('collection.already_there')
      : accept([{ kind: 'completionReturned' }]);
  }
  return state.step === 'completing'
    ? refuse('collection.already_there')
    : accept([{ kind: 'completionAccepted' }]);
}

function decideFact(fact: CollectionFact, resubmitGraceMs: number, state: CollectionState): Decision {
  if (state.status !== 'PENDING') {
    return refuse(
      fact.status.toUpperCase() === state.status ? 'collection.already_there' : 'collection.contradiction',
    );
  }
  switch (fact.status) {
    case 'completed':
      // Another amount than was asked is for people to decide (design 6).
      if (fact.amount !== null && fact.amount !== state.order.amount.minor)
        return refuse('collection.amount_differs');
      return accept([{ kind: 'completed', railFee: fact.fee ?? state.railFee }]);
    case 'failed':
      return accept([{ kind: 'failed', reason: fact.reason }]);
    case 'reversed':
      return refuse('collection.contradiction');
    case 'notFound':
      if (state.step === 'queued') return refuse('collection.already_there');
      // Once the rail has accepted it, only people can say what its "not found" means.
      if (state.step !== 'initiating' && state.step !== 'unknown') return refuse('collection.contradiction');
      if (fact.polledAtMs - state.attemptedAtMs < resubmitGraceMs) return refuse('collection.grace_not_over');
      return accept([{ kind: 'requeued', dueAtMs: fact.polledAtMs, unclear: true }]);
    default:
      return unreachable(fact.status);
  }
}

function evolve(state: CollectionState, happening: CollectionHappening): CollectionState {
  const next = { ...state, version: state.version + 1n };
  switch (happening.kind) {
    case 'initiationAccepted':
      return { ...next, step: stepAfterInitiation(state.order), dueAtMs: null };
    case 'initiationUnclear':
      return { ...next, step: 'unknown', dueAtMs: null };
    case 'requeued':
      return {
        ...next,
        step: 'queued',
        dueAtMs: happening.dueAtMs,
        earlierUnclear: state.earlierUnclear || happening.unclear,
      };
    case 'completionRequested':
      return { ...next, completionAttempts: state.completionAttempts + 1 };
    case 'completionAccepted':
      return { ...next, step: 'completing', dueAtMs: null };
    case 'completionReturned':
      return { ...next, completionAttempts: state.completionAttempts - 1 };
    case 'completed':
      return { ...next, status: 'COMPLETED', step: 'ended', dueAtMs: null, railFee: happening.railFee };
    case 'failed':
      return { ...next, status: 'FAILED', step: 'ended', dueAtMs: null, failureReason: happening.reason };
    default:
      return unreachable(happening);
  }
}

function stepAfterInitiation({ flow }: CollectionOrder): CollectionStep {
  switch (flow.kind) {
    case 'otp':
      return 'awaitingOtp';
    case 'stkThenComplete':
      return 'awaitingCompletion';
    case 'stk':
    case 'link':
      return 'awaitingCustomer';
    default:
      return unreachable(flow);
  }
}

/** The life of a collection: PENDING → COMPLETED | FAILED (design 4). */
export const collectionDecider: Pick<
  Decider<CollectionState, CollectionCommand, CollectionHappening, CollectionStateRefusal>,
  'decide' | 'evolve'
> = { decide, evolve };
