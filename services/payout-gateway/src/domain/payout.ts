import type { PayoutStatus } from '@pesewa/contracts';
import { accept, type Decider, type Result, refuse, unreachable } from '@pesewa/kernel';
import {
  applyDecided,
  type DecidedEnd,
  type DecidedHappening,
  type DecidedOutcome,
  decideByPeople,
  endOf,
  isOver,
} from './decided.ts';

/** The inner steps of an INITIALIZED payout, never shown outside (design 4). */
export type PayoutStep = 'accepted' | 'held' | 'submitting' | 'submitted' | 'unknown' | 'ended';

/** The part of a payout that changes in its life. */
export interface PayoutState {
  readonly status: PayoutStatus;
  readonly step: PayoutStep;
  /** Grows by one with every event. */
  readonly version: bigint;
  /** How often the rail was asked to pay, always with the same reference. */
  readonly attempts: number;
  /** Whether an earlier attempt was unclear, so that it may still be executed behind the newest one. */
  readonly earlierUnclear: boolean;
  /** When the newest attempt was committed, in milliseconds since the epoch; null before the first. */
  readonly attemptedAtMs: number | null;
  /** When a held payout is to be submitted; null while nothing is to be done. */
  readonly dueAtMs: number | null;
  /** The rail's own fee in minor units; known at the end. */
  readonly railFee: bigint;
  readonly statusReason: string | null;
  /** What people decided last; null where they never had to. */
  readonly decided: DecidedEnd | null;
}

/** What the rail made of an attempt (design 6). */
export type AttemptOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'completed'; readonly fee: bigint }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'notSent'; readonly retryAtMs: number };

/** A fact from the rail (design 6). */
export interface PayoutFact {
  readonly status: 'completed' | 'failed' | 'reversed' | 'notFound';
  readonly railFee: bigint;
  readonly reason: string;
  readonly polledAtMs: number;
}

/** What can be asked of a payout. */
export type PayoutCommand =
  | { readonly kind: 'confirmHold'; readonly nowMs: number }
  | { readonly kind: 'refuseHold'; readonly reason: string }
  | { readonly kind: 'recordAttempt'; readonly attempt: number; readonly outcome: AttemptOutcome }
  | { readonly kind: 'observe'; readonly fact: PayoutFact; readonly resubmitGraceMs: number }
  | { readonly kind: 'decide'; readonly decided: DecidedOutcome; readonly resubmitGraceMs: number }
  /** The attempt is over that was under way when people decided, and nobody knows how. */
  | { readonly kind: 'applyDecided'; readonly resubmitGraceMs: number };

/** What happened to a payout. */
export type PayoutHappening =
  | { readonly kind: 'held'; readonly dueAtMs: number }
  /** `refused`: the rail refused this attempt, yet an earlier one may still be executed. */
  | { readonly kind: 'submitted'; readonly answer: 'accepted' | 'unknown' | 'refused' }
  /** `unclear`: an attempt was made whose end nobody knows. */
  | { readonly kind: 'requeued'; readonly dueAtMs: number; readonly unclear: boolean }
  | {
      readonly kind: 'completed';
      readonly railFee: bigint;
      readonly reason: string;
      readonly byPeople?: never;
    }
  | { readonly kind: 'failed'; readonly reason: string; readonly byPeople?: never }
  | { readonly kind: 'reversed'; readonly reason: string }
  | DecidedHappening;

/** Why a command changes nothing. */
export type PayoutRefusal =
  | 'payout.already_there'
  | 'payout.stale_attempt'
  | 'payout.not_attempted'
  | 'payout.grace_not_over'
  | 'payout.contradiction';

const initial: PayoutState = {
  status: 'INITIALIZED',
  step: 'accepted',
  version: 1n,
  attempts: 0,
  earlierUnclear: false,
  attemptedAtMs: null,
  dueAtMs: null,
  railFee: 0n,
  statusReason: null,
  decided: null,
};

function decide(
  command: PayoutCommand,
  state: PayoutState,
): Result<readonly PayoutHappening[], PayoutRefusal> {
  switch (command.kind) {
    case 'confirmHold':
      if (state.step !== 'accepted') return refuse('payout.already_there');
      return accept([{ kind: 'held', dueAtMs: command.nowMs }]);
    case 'refuseHold':
      if (state.step !== 'accepted') return refuse('payout.already_there');
      return accept([{ kind: 'failed', reason: command.reason }]);
    case 'recordAttempt':
      return decideAttempt(command.outcome, command.attempt, state);
    case 'observe':
      return decideFact(command.fact, command.resubmitGraceMs, state);
    case 'decide':
      return decideByPeople(command.decided, command.resubmitGraceMs, state);
    case 'applyDecided':
      return applyDecided(state, command.resubmitGraceMs);
    default:
      return unreachable(command);
  }
}

function decideAttempt(
  outcome: AttemptOutcome,
  attempt: number,
  state: PayoutState,
): Result<readonly PayoutHappening[], PayoutRefusal> {
  if (state.attempts !== attempt) return refuse('payout.stale_attempt');
  if (state.step === 'held' && state.earlierUnclear) return decideLateAnswer(outcome, state);
  if (state.step !== 'submitting') return refuse('payout.stale_attempt');
  if (state.decided?.stands && isOver(outcome.kind, state.decided)) return accept([endOf(state.decided)]);
  switch (outcome.kind) {
    case 'accepted':
    case 'unknown':
      return accept([{ kind: 'submitted', answer: outcome.kind }]);
    case 'completed':
      return accept([{ kind: 'completed', railFee: outcome.fee, reason: 'Successful' }]);
    case 'failed':
      // An earlier attempt that was unclear may still be executed, so this refusal is not final: the lookup decides.
      // Where that says NOT FOUND, the payout is sent and refused again after every grace time. Its hold stays until
      // people settle the break that the reconciler opens: better than to release money that may still go out.
      if (state.earlierUnclear) return accept([{ kind: 'submitted', answer: 'refused' }]);
      return accept([{ kind: 'failed', reason: outcome.reason }]);
    case 'notSent':
      return accept([{ kind: 'requeued', dueAtMs: outcome.retryAtMs, unclear: false }]);
    default:
      return unreachable(outcome);
  }
}

/**
 * The answer to the newest attempt, recorded only after a NOT FOUND has made the payout due again: a long election can
 * keep it back. What the rail said at once is better than what its silence looked like.
 */
function decideLateAnswer(
  outcome: AttemptOutcome,
  state: PayoutState,
): Result<readonly PayoutHappening[], PayoutRefusal> {
  switch (outcome.kind) {
    case 'accepted':
      return accept([{ kind: 'submitted', answer: 'accepted' }]);
    case 'completed':
      return accept([{ kind: 'completed', railFee: outcome.fee, reason: 'Successful' }]);
    case 'failed':
      if (state.attempts > 1) return refuse('payout.stale_attempt');
      return accept([{ kind: 'failed', reason: outcome.reason }]);
    case 'notSent':
      if (state.attempts > 1) return refuse('payout.stale_attempt');
      return accept([{ kind: 'requeued', dueAtMs: outcome.retryAtMs, unclear: false }]);
    case 'unknown':
      return refuse('payout.stale_attempt');
    default:
      return unreachable(outcome);
  }
}

function decideFact(
  fact: PayoutFact,
  resubmitGraceMs: number,
  state: PayoutState,
): Result<readonly PayoutHappening[], PayoutRefusal> {
  if (state.status !== 'INITIALIZED') return decideAfterTheEnd(fact, state);
  if (state.attemptedAtMs === null) return refuse('payout.not_attempted');
  switch (fact.status) {
    case 'completed':
      return accept([{ kind: 'completed', railFee: fact.railFee, reason: fact.reason }]);
    case 'failed':
      return accept([{ kind: 'failed', reason: fact.reason }]);
    case 'reversed':
      return accept([
        { kind: 'completed', railFee: fact.railFee, reason: 'Successful' },
        { kind: 'reversed', reason: fact.reason },
      ]);
    case 'notFound':
      if (state.step === 'held') return refuse('payout.already_there');
      // Only an attempt without a clear answer is sent again; what the rail accepted, people look into (design 4.3).
      if (state.step !== 'submitting' && state.step !== 'unknown') return refuse('payout.contradiction');
      // The rail may still be busy with an attempt: only after the grace time does its "not found" hold (design 4.3).
      if (fact.polledAtMs - state.attemptedAtMs < resubmitGraceMs) return refuse('payout.grace_not_over');
      if (state.decided?.stands) return accept([endOf(state.decided)]);
      return accept([{ kind: 'requeued', dueAtMs: fact.polledAtMs, unclear: true }]);
    default:
      return unreachable(fact.status);
  }
}

/** After the end only COMPLETED → REVERSED moves anything (design 4.5). */
function decideAfterTheEnd(
  fact: PayoutFact,
  state: PayoutState,
): Result<readonly PayoutHappening[], PayoutRefusal> {
  if (fact.status === 'reversed' && state.status === 'COMPLETED')
    return accept([{ kind: 'reversed', reason: fact.reason }]);
  return refuse(fact.status.toUpperCase() === state.status ? 'payout.already_there' : 'payout.contradiction');
}

function evolve(state: PayoutState, happening: PayoutHappening): PayoutState {
  const next = { ...state, version: state.version + 1n };
  switch (happening.kind) {
    case 'held':
      return { ...next, step: 'held', dueAtMs: happening.dueAtMs };
    case 'submitted': {
      const step = happening.answer === 'accepted' ? 'submitted' : 'unknown';
      // What people decided goes on waiting for an attempt whose answer is unclear.
      if (step === 'unknown' && state.decided?.stands) return { ...next, step };
      return { ...next, step, dueAtMs: null, decided: lapsed(state) };
    }
    case 'decided':
      return { ...next, dueAtMs: happening.dueAtMs, decided: { ...happening.decided, stands: true } };
    case 'lapsed':
      return { ...next, dueAtMs: null, decided: lapsed(state) };
    case 'requeued':
      return {
        ...next,
        step: 'held',
        dueAtMs: happening.dueAtMs,
        // One attempt that certainly never left leaves none that could be unclear.
        earlierUnclear: happening.unclear || (state.earlierUnclear && state.attempts > 1),
      };
    case 'completed':
      return { ...ended(next, happening.reason), status: 'COMPLETED', railFee: happening.railFee };
    case 'failed':
      return { ...ended(next, happening.reason), status: 'FAILED' };
    case 'reversed':
      return { ...ended(next, happening.reason), status: 'REVERSED' };
    default:
      return unreachable(happening);
  }
}

function ended(state: PayoutState, reason: string): PayoutState {
  return { ...state, step: 'ended', dueAtMs: null, statusReason: reason, decided: lapsed(state) };
}

function lapsed({ decided }: PayoutState): DecidedEnd | null {
  return decided && { ...decided, stands: false };
}

/** The life of a payout: INITIALIZED → COMPLETED | FAILED, and COMPLETED → REVERSED (design 4). */
export const payoutDecider: Decider<PayoutState, PayoutCommand, PayoutHappening, PayoutRefusal> = {
  initial,
  decide,
  evolve,
};
