import type { FeeSchedule, Result } from '@pesewa/kernel';
import type { CollectionRequest } from './initiation.ts';

/** The status of a collection, as merchants see it (contract 3.2). */
export type CollectionStatus = 'PENDING' | 'COMPLETED' | 'FAILED';

/** The inner steps of a PENDING collection, never shown outside (contract 10.6). */
export type CollectionStep =
  | 'initiating'
  | 'queued'
  | 'unknown'
  | 'awaitingOtp'
  | 'awaitingCustomer'
  | 'awaitingCompletion'
  | 'completing'
  /** It waited too long to be sent and never will be; the rail's status check decides its end. */
  | 'abandoned'
  | 'ended';

/** The right to call the rail with a completion, which only one request has at a time, over all replicas. */
export interface CompletionLease {
  /** The version of the collection after it was granted, which is different for each grant. */
  readonly token: bigint;
  /** In milliseconds since the epoch; from then on another request may get the lock. */
  readonly untilMs: number;
}

/** A collection's order and its changing part; amounts in minor units of the order's currency. */
export interface CollectionState {
  readonly order: CollectionRequest;
  readonly status: CollectionStatus;
  readonly step: CollectionStep;
  /** Grows by one with every change. */
  readonly version: bigint;
  /** How often the rail was asked to initiate, always with the same reference. */
  readonly attempts: number;
  /** Whether an earlier attempt was unclear and may therefore still be executed after the newest one. */
  readonly earlierUnclear: boolean;
  /** When the newest attempt was committed, in milliseconds since the epoch. */
  readonly attemptedAtMs: number;
  /** When a queued collection must be initiated again; null while there is nothing to do. */
  readonly dueAtMs: number | null;
  /** How many completions were passed on to the rail. */
  readonly completionAttempts: number;
  /** The completion in progress; null if there is none. */
  readonly completionLease: CompletionLease | null;
  /** Whether it was published that no further completion is passed on, so that the rail is asked. */
  readonly completionClosed: boolean;
  /** Our own fee: of the amount asked, until another one is received. */
  readonly fee: bigint;
  /** The merchant's fee schedule when this collection was accepted. */
  readonly feeSchedule: FeeSchedule;
  /** What the customer paid; null until it is known. */
  readonly amountReceived: bigint | null;
  /** The rail's own fee: by its schedule, until the rail reports it. */
  readonly railFee: bigint;
  readonly failureReason: string | null;
}

/** The rail's answer to an initiation (ADR 62). */
export type InitiationOutcome =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'notSent'; readonly retryAtMs: number };

/**
 * The rail's answer to a completion. An unclear one is not recorded, and the lease runs out. `refusedForGood`: it
 * accepts no further completion. `closed`: it has ended the collection, and its status check shows how.
 */
export type CompletionOutcome = 'acknowledged' | 'refused' | 'refusedForGood' | 'closed' | 'notSent';

/** A fact from the rail (ADR 6); amount and fee in minor units, null if unknown. */
export interface CollectionFact {
  readonly status: 'completed' | 'failed' | 'reversed' | 'notFound';
  readonly amount: bigint | null;
  readonly fee: bigint | null;
  readonly reason: string;
  readonly polledAtMs: number;
}

/** The amount that, by the decision of two people, a customer paid (ADR 23). */
export interface DecidedAmount {
  readonly currency: string;
  readonly amount: bigint;
  readonly railFee: bigint;
}

/** The commands of a collection. */
export type CollectionCommand =
  | { readonly kind: 'recordInitiation'; readonly attempt: number; readonly outcome: InitiationOutcome }
  | { readonly kind: 'requestCompletion'; readonly nowMs: number; readonly leaseMs: number }
  | { readonly kind: 'recordCompletion'; readonly token: bigint; readonly outcome: CompletionOutcome }
  | { readonly kind: 'closeCompletion' }
  | { readonly kind: 'observe'; readonly fact: CollectionFact; readonly resubmitGraceMs: number }
  | { readonly kind: 'decideAmount'; readonly decided: DecidedAmount };

/** What happened to a collection. */
export type CollectionDomainEvent =
  | { readonly kind: 'initiationAcknowledged' }
  | { readonly kind: 'initiationUnclear' }
  /** `unclear`: an attempt was made whose outcome is unknown. */
  | { readonly kind: 'requeued'; readonly dueAtMs: number; readonly unclear: boolean }
  | { readonly kind: 'completionRequested'; readonly leaseUntilMs: number }
  | { readonly kind: 'completionAcknowledged' }
  | { readonly kind: 'completionRefused' }
  | { readonly kind: 'completionReturned' }
  | { readonly kind: 'completionClosed' }
  | {
      readonly kind: 'completed';
      readonly amountReceived: bigint;
      readonly fee: bigint;
      readonly railFee: bigint;
    }
  | { readonly kind: 'failed'; readonly reason: string };

/** Why a command is refused. */
export type CollectionStateRefusal =
  | 'collection.already_there'
  | 'collection.stale_attempt'
  | 'collection.grace_not_over'
  | 'collection.amount_differs'
  | 'collection.currency_differs'
  | 'collection.contradiction'
  | 'collection.closed'
  | 'collection.completion_not_required'
  | 'collection.completion_under_way'
  | 'collection.completing'
  | 'collection.not_initiated'
  | 'collection.otp_expired'
  | 'collection.otp_attempts_exceeded'
  | 'collection.completions_exceeded'
  | 'collection.number_limit';

/** The domain events of a command, or why there are none. */
export type Decision = Result<readonly CollectionDomainEvent[], CollectionStateRefusal>;

/**
 * A new collection, which is committed together with its first attempt: a crash before the call leaves it `initiating`.
 */
export function initiated(
  terms: Pick<CollectionState, 'order' | 'fee' | 'feeSchedule' | 'railFee'>,
  nowMs: number,
): CollectionState {
  return {
    ...terms,
    status: 'PENDING',
    step: 'initiating',
    version: 1n,
    attempts: 1,
    earlierUnclear: false,
    attemptedAtMs: nowMs,
    dueAtMs: null,
    completionAttempts: 0,
    completionLease: null,
    completionClosed: false,
    amountReceived: null,
    failureReason: null,
  };
}
