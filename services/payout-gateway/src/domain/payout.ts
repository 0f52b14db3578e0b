import { accept, type Result, refuse, unreachable } from '@pesewa/kernel';
import { type CancellationRefusal, cancelled, decideCancellation } from './cancellation.ts';
import {
  applyDecision,
  confirmsDecision,
  type DecidedOutcome,
  decideByOperators,
  decidedEndOf,
} from './operator-decision.ts';
import { evolve, initial, type PayoutDomainEvent, type PayoutState } from './payout-state.ts';

/** The rail's answer to an attempt (ADR 62). */
export type AttemptOutcome =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'completed'; readonly fee: bigint }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'notSent'; readonly retryAtMs: number };

/** A fact from the rail (ADR 6). */
export interface PayoutFact {
  readonly status: 'completed' | 'failed' | 'reversed' | 'notFound';
  readonly railFee: bigint;
  readonly reason: string;
  readonly polledAtMs: number;
}

/** The commands of a payout. */
export type PayoutCommand =
  | { readonly kind: 'confirmHold'; readonly nowMs: number }
  | { readonly kind: 'refuseHold'; readonly reason: string }
  | { readonly kind: 'recordAttempt'; readonly attempt: number; readonly outcome: AttemptOutcome }
  | { readonly kind: 'observe'; readonly fact: PayoutFact; readonly resubmitGraceMs: number }
  | { readonly kind: 'endByOperators'; readonly decided: DecidedOutcome; readonly resubmitGraceMs: number }
  /** The attempt that was in progress when people decided is over, without a known outcome. */
  | { readonly kind: 'applyDecided'; readonly resubmitGraceMs: number }
  /** An operator gives it up before it is sent. */
  | { readonly kind: 'cancel'; readonly by: string };

/** Why a command is refused. */
export type PayoutRefusal =
  | CancellationRefusal
  | 'payout.stale_attempt'
  | 'payout.not_attempted'
  | 'payout.grace_not_over'
  | 'payout.contradiction';

function decide(
  command: PayoutCommand,
  state: PayoutState,
): Result<readonly PayoutDomainEvent[], PayoutRefusal> {
  switch (command.kind) {
    case 'confirmHold':
      if (state.step !== 'awaitingHold') return refuse('payout.already_there');
      if (state.cancelRequestedBy !== null) return accept([cancelled(state.cancelRequestedBy)]);
      if (state.earlierUnclear || !state.recipientKnown) return accept([{ kind: 'withheld' }]);
      return accept([{ kind: 'held', dueAtMs: command.nowMs }]);
    case 'refuseHold':
      if (state.step !== 'awaitingHold') return refuse('payout.already_there');
      return accept([{ kind: 'failed', reason: command.reason }]);
    case 'recordAttempt':
      return decideAttempt(command.outcome, command.attempt, state);
    case 'observe':
      return decideFact(command.fact, command.resubmitGraceMs, state);
    case 'endByOperators':
      return decideByOperators(command.decided, command.resubmitGraceMs, state);
    case 'applyDecided':
      return applyDecision(state, command.resubmitGraceMs);
    case 'cancel':
      return decideCancellation(command.by, state);
    default:
      return unreachable(command);
  }
}

function decideAttempt(
  outcome: AttemptOutcome,
  attempt: number,
  state: PayoutState,
): Result<readonly PayoutDomainEvent[], PayoutRefusal> {
  if (state.attempts !== attempt) return refuse('payout.stale_attempt');
  if (state.step === 'held' && state.earlierUnclear) return decideLateAnswer(outcome, state);
  if (state.step !== 'submitting') return refuse('payout.stale_attempt');
  if (state.decided?.isPending && confirmsDecision(outcome.kind, state.decided))
    return accept([decidedEndOf(state.decided)]);
  switch (outcome.kind) {
    case 'acknowledged':
    case 'unknown':
      return accept([{ kind: 'submitted', answer: outcome.kind }]);
    case 'completed':
      return accept([{ kind: 'completed', railFee: outcome.fee, reason: 'Successful' }]);
    case 'failed':
      // An unclear earlier attempt may still be executed, so this refusal is not final: the lookup decides. If that
      // says NOT FOUND, the payout is sent and refused again after every grace time. Its hold stays until people resolve
      // the break that the reconciler opens, which is better than to release money that may still be paid.
      if (state.earlierUnclear) return accept([{ kind: 'submitted', answer: 'refused' }]);
      return accept([{ kind: 'failed', reason: outcome.reason }]);
    case 'notSent':
      return accept([{ kind: 'requeued', dueAtMs: outcome.retryAtMs, unclear: false }]);
    default:
      return unreachable(outcome);
  }
}

/**
 * The answer to the newest attempt, recorded only after a NOT FOUND has made the payout due again, for example because
 * an election delayed it. The rail's direct answer is more reliable than the earlier lack of one.
 */
function decideLateAnswer(
  outcome: AttemptOutcome,
  state: PayoutState,
): Result<readonly PayoutDomainEvent[], PayoutRefusal> {
  switch (outcome.kind) {
    case 'acknowledged':
      return accept([{ kind: 'submitted', answer: 'acknowledged' }]);
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
): Result<readonly PayoutDomainEvent[], PayoutRefusal> {
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
      // Only an attempt without a clear answer is sent again; people look into one that the rail had acknowledged (ADR 5).
      if (state.step !== 'submitting' && state.step !== 'unknown') return refuse('payout.contradiction');
      // The rail may still be processing an attempt: its "not found" counts only after the grace time (ADR 5).
      if (fact.polledAtMs - state.attemptedAtMs < resubmitGraceMs) return refuse('payout.grace_not_over');
      if (state.decided?.isPending) return accept([decidedEndOf(state.decided)]);
      // Nothing sends it again, so it can't be paid any more.
      if (!state.recipientKnown) return accept([{ kind: 'failed', reason: 'Failed' }]);
      return accept([{ kind: 'requeued', dueAtMs: fact.polledAtMs, unclear: true }]);
    default:
      return unreachable(fact.status);
  }
}

/** After the end only COMPLETED → REVERSED is possible (invariant P13). */
function decideAfterTheEnd(
  fact: PayoutFact,
  state: PayoutState,
): Result<readonly PayoutDomainEvent[], PayoutRefusal> {
  if (fact.status === 'reversed' && state.status === 'COMPLETED')
    return accept([{ kind: 'reversed', reason: fact.reason }]);
  return refuse(fact.status.toUpperCase() === state.status ? 'payout.already_there' : 'payout.contradiction');
}

/** The life of a payout: INITIALIZED → COMPLETED | FAILED, and COMPLETED → REVERSED (contract 10.6). */
export const payoutDecider = { initial, decide, evolve };
