import type { PayoutStatus } from '@pesewa/contracts';
import { unreachable } from '@pesewa/kernel';
import type { CancellationDomainEvent } from './cancellation.ts';
import type { DecidedDomainEvent, RecordedDecision } from './operator-decision.ts';

/**
 * The inner steps of an INITIALIZED payout, never shown outside (contract 10.6). No event leads to `submitting`: the claim
 * sets it (`withAttempt`, `attemptUpdate`). `held` is due to be sent, for the first time or again; of `unknown` it is not
 * clear here whether the rail has it.
 */
export type PayoutStep = 'awaitingHold' | 'held' | 'submitting' | 'submitted' | 'unknown' | 'ended';

/** The part of a payout that changes in its life. */
export interface PayoutState {
  readonly status: PayoutStatus;
  readonly step: PayoutStep;
  /** Grows by one with every event and every claim. */
  readonly version: bigint;
  /** How often the rail was asked to pay, always with the same reference. */
  readonly attempts: number;
  /** Whether an earlier attempt was unclear and may therefore still be executed after the newest one. */
  readonly earlierUnclear: boolean;
  /** Whether the rail has clearly acknowledged it, also after its end: then it is never sent again. */
  readonly acknowledgedByRail: boolean;
  /** When the newest attempt was committed, in milliseconds since the epoch; null before the first. */
  readonly attemptedAtMs: number | null;
  /** When a held payout must be submitted; null while there is nothing to do. */
  readonly dueAtMs: number | null;
  /** The rail's own fee in minor units; known when the payout has ended. */
  readonly railFee: bigint;
  readonly statusReason: string | null;
  /** Whether this database knows the recipient; if not, the payout is never sent. */
  readonly recipientKnown: boolean;
  /** The latest decision of people; null if there was none. */
  readonly decided: RecordedDecision | null;
  /** Who cancelled it while its hold was not answered for; null if none did. */
  readonly cancelRequestedBy: string | null;
}

/** The fields of an accepted payout that never change, in addition to its order. */
export interface PayoutTerms {
  /** Our reference; the rail gets it as its client's reference. */
  readonly reference: string;
  readonly merchantId: string;
  /** The whole hash, or its beginning. */
  readonly contentHash: string;
  /** Minor units of the order's currency. */
  readonly fee: bigint;
  readonly rail: string;
  /** Our reference of its batch; null for a single payout. */
  readonly batchReference: string | null;
  readonly acceptedAtMs: number;
  /** The trace of its request, to which everything about it belongs. */
  readonly traceparent: string;
}

/** What a payout's completion said, and the event behind it; kept where a reversal has replaced it. */
export interface Completion {
  readonly reason: string;
  readonly causedBy: string | null;
}

/** Keeps what a reversal replaces, so that the event of the completion can be repeated as it was. */
export function keepCompletion(
  before: { readonly statusReason: string | null; readonly causedBy: string | null },
  { kind }: Pick<PayoutDomainEvent, 'kind'>,
): { readonly completion?: Completion } {
  const { statusReason: reason, causedBy } = before;
  return kind === 'reversed' && reason !== null ? { completion: { reason, causedBy } } : {};
}

/** What happened to a payout. */
export type PayoutDomainEvent =
  | { readonly kind: 'held'; readonly dueAtMs: number }
  /** Its money is held, but it may have been sent before the database was restored. */
  | { readonly kind: 'withheld' }
  /** `refused`: the rail refused this attempt, but an earlier one may still be executed. */
  | { readonly kind: 'submitted'; readonly answer: 'acknowledged' | 'unknown' | 'refused' }
  /** `unclear`: an attempt was made whose outcome is unknown. */
  | { readonly kind: 'requeued'; readonly dueAtMs: number; readonly unclear: boolean }
  | {
      readonly kind: 'completed';
      readonly railFee: bigint;
      readonly reason: string;
      readonly byOperators?: never;
    }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly byOperators?: never;
      readonly cancelledBy?: never;
    }
  | { readonly kind: 'reversed'; readonly reason: string }
  | DecidedDomainEvent
  | CancellationDomainEvent;

/** A payout that was just accepted. */
export const initial: PayoutState = {
  status: 'INITIALIZED',
  step: 'awaitingHold',
  version: 1n,
  attempts: 0,
  earlierUnclear: false,
  acknowledgedByRail: false,
  attemptedAtMs: null,
  dueAtMs: null,
  railFee: 0n,
  statusReason: null,
  recipientKnown: true,
  decided: null,
  cancelRequestedBy: null,
};

/** The state after a domain event. */
export function evolve(state: PayoutState, domainEvent: PayoutDomainEvent): PayoutState {
  const next = { ...state, version: state.version + 1n };
  switch (domainEvent.kind) {
    case 'held':
      return { ...next, step: 'held', dueAtMs: domainEvent.dueAtMs };
    case 'withheld':
      return { ...next, step: 'unknown' };
    case 'submitted': {
      const acknowledgedByRail = domainEvent.answer === 'acknowledged';
      const step = acknowledgedByRail ? 'submitted' : 'unknown';
      // A decision of people keeps waiting for an attempt whose answer is unclear.
      if (step === 'unknown' && state.decided?.isPending) return { ...next, step };
      return { ...next, step, acknowledgedByRail, dueAtMs: null, decided: lapsed(state) };
    }
    case 'decided':
      return { ...next, dueAtMs: domainEvent.dueAtMs, decided: { ...domainEvent.decided, isPending: true } };
    case 'lapsed':
      return { ...next, dueAtMs: null, decided: lapsed(state) };
    case 'cancelRequested':
      return { ...next, cancelRequestedBy: domainEvent.by };
    case 'requeued':
      return {
        ...next,
        step: 'held',
        dueAtMs: domainEvent.dueAtMs,
        // If the only attempt certainly never left, none can be unclear.
        earlierUnclear: domainEvent.unclear || (state.earlierUnclear && state.attempts > 1),
      };
    case 'completed':
      return { ...ended(next, domainEvent.reason), status: 'COMPLETED', railFee: domainEvent.railFee };
    case 'failed':
      return { ...ended(next, domainEvent.reason), status: 'FAILED' };
    case 'reversed':
      return { ...ended(next, domainEvent.reason), status: 'REVERSED' };
    default:
      return unreachable(domainEvent);
  }
}

function ended(state: PayoutState, reason: string): PayoutState {
  return { ...state, step: 'ended', dueAtMs: null, statusReason: reason, decided: lapsed(state) };
}

function lapsed({ decided }: PayoutState): RecordedDecision | null {
  return decided && { ...decided, isPending: false };
}

/** The description of a domain event for operators. */
export function describe(domainEvent: PayoutDomainEvent): string {
  switch (domainEvent.kind) {
    case 'submitted':
      return answers[domainEvent.answer];
    case 'requeued':
      return domainEvent.unclear ? 'not found at the rail, to be sent again' : 'not sent, to be sent again';
    case 'decided':
      return `two operators decided that it ${domainEvent.decided.outcome}: it waits for the attempt under way`;
    case 'lapsed':
      return 'what two operators decided has lapsed: it is unknown how an attempt ended that they could not know of';
    case 'cancelRequested':
      return `cancelled by ${domainEvent.by} before it was sent: it ends when the ledger answers for its hold`;
    case 'completed':
    case 'failed':
      if (domainEvent.kind === 'failed' && domainEvent.cancelledBy !== undefined)
        return `failed: cancelled by ${domainEvent.cancelledBy} before it was sent`;
      return domainEvent.byOperators ? `${domainEvent.kind}, as two operators decided` : domainEvent.kind;
    case 'withheld':
      return 'held, and not sent: it may have been before the database was restored';
    case 'held':
    case 'reversed':
      return domainEvent.kind;
    default:
      return unreachable(domainEvent);
  }
}

const answers = {
  acknowledged: 'acknowledged by the rail',
  unknown: 'no clear answer from the rail',
  refused: 'refused by the rail, an earlier attempt is unclear',
} as const;
