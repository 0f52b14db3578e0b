import { accept, refuse, unreachable } from '@pesewa/kernel';
import { closeCompletion, decideCompletion, recordCompletion } from './completion.ts';
import { decideAmount, decideFact } from './facts.ts';
import type { CollectionRequest } from './initiation.ts';
import { merchantReason } from './reasons.ts';
import type {
  CollectionCommand,
  CollectionDomainEvent,
  CollectionState,
  CollectionStep,
  Decision,
  InitiationOutcome,
} from './state.ts';

function decide(command: CollectionCommand, state: CollectionState): Decision {
  switch (command.kind) {
    case 'recordInitiation':
      return decideInitiation(command.outcome, command.attempt, state);
    case 'requestCompletion':
      return decideCompletion(command, state);
    case 'recordCompletion':
      return recordCompletion(command.outcome, command.token, state);
    case 'closeCompletion':
      return closeCompletion(state);
    case 'observe':
      return decideFact(command.fact, command.resubmitGraceMs, state);
    case 'decideAmount':
      return decideAmount(command.decided, state);
    default:
      return unreachable(command);
  }
}

function decideInitiation(outcome: InitiationOutcome, attempt: number, state: CollectionState): Decision {
  if (state.step !== 'initiating' || state.attempts !== attempt) return refuse('collection.stale_attempt');
  switch (outcome.kind) {
    case 'acknowledged':
      return accept([{ kind: 'initiationAcknowledged' }]);
    case 'unknown':
      return accept([{ kind: 'initiationUnclear' }]);
    case 'failed':
      // An unclear earlier attempt may still be executed, so this refusal is not final: the status check decides. If
      // that says NOT FOUND, the collection is initiated and refused again after every grace time until people resolve
      // it as stuck, which is better than to fail a collection that the customer may still pay.
      if (state.earlierUnclear) return accept([{ kind: 'initiationUnclear' }]);
      return accept([{ kind: 'failed', reason: merchantReason(outcome.reason) }]);
    case 'notSent':
      // A payment link can only reach the merchant in the answer to payin. If no attempt can have requested one, the
      // outcome is not unknown.
      if (state.order.flow.kind === 'link' && !state.earlierUnclear)
        return accept([{ kind: 'failed', reason: 'OPERATOR NOT AVAILABLE' }]);
      return accept([{ kind: 'requeued', dueAtMs: outcome.retryAtMs, unclear: false }]);
    default:
      return unreachable(outcome);
  }
}

function evolve(state: CollectionState, domainEvent: CollectionDomainEvent): CollectionState {
  const version = state.version + 1n;
  const next = { ...state, version };
  switch (domainEvent.kind) {
    case 'initiationAcknowledged':
      return { ...next, step: stepAfterInitiation(state.order), dueAtMs: null };
    case 'initiationUnclear':
      return { ...next, step: 'unknown', dueAtMs: null };
    case 'requeued':
      return {
        ...next,
        step: 'queued',
        dueAtMs: domainEvent.dueAtMs,
        earlierUnclear: state.earlierUnclear || domainEvent.unclear,
      };
    case 'completionRequested':
      return {
        ...next,
        completionAttempts: state.completionAttempts + 1,
        completionLease: { token: version, untilMs: domainEvent.leaseUntilMs },
      };
    case 'completionAcknowledged':
      return { ...next, step: 'completing', dueAtMs: null, completionLease: null };
    case 'completionRefused':
      return { ...next, completionLease: null };
    case 'completionReturned':
      return { ...next, completionAttempts: state.completionAttempts - 1, completionLease: null };
    case 'completionClosed':
      return { ...next, completionClosed: true };
    case 'completed': {
      const { kind: _kind, ...received } = domainEvent;
      return {
        ...next,
        ...received,
        status: 'COMPLETED',
        step: 'ended',
        dueAtMs: null,
        completionLease: null,
      };
    }
    case 'failed':
      return {
        ...next,
        status: 'FAILED',
        step: 'ended',
        dueAtMs: null,
        completionLease: null,
        failureReason: domainEvent.reason,
      };
    default:
      return unreachable(domainEvent);
  }
}

function stepAfterInitiation({ flow }: CollectionRequest): CollectionStep {
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

/** The life of a collection: PENDING → COMPLETED | FAILED (contract 10.6). */
export const collectionDecider = { decide, evolve };
