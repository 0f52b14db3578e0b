import type { CompletionFlow } from '@pesewa/contracts';
import type { FeeSchedule } from '@pesewa/kernel';
import {
  openPaymentStore,
  type PaymentChange,
  type PaymentDocument,
  type PaymentStore,
  paymentId,
  type TimelineStep,
  type TimelineStepDocument,
  timelineFromDocument,
  timelineToDocument,
} from '@pesewa/payments';
import type { Db } from 'mongodb';
import type { CollectionRequest } from './domain/initiation.ts';
import type { CollectionState, CollectionStatus, CollectionStep } from './domain/state.ts';

/** A collection: its order, its route and its state. */
export interface Collection extends CollectionState {
  /** Our reference; the rail gets it as its client's reference. */
  readonly reference: string;
  readonly merchantId: string;
  readonly rail: string;
  readonly acceptedAtMs: number;
  /** The trace of its request, to which everything about it belongs. */
  readonly traceparent: string;
  /** The id of the event that changed it last, which is the cause of whatever follows without a new event. */
  readonly causedBy: string;
  /** Its timeline, for operators; nothing is decided by it. */
  readonly timeline: readonly TimelineStep[];
}

/** A collection as MongoDB holds it; `_id` is the merchant and its reference, so that each is accepted only once. */
export interface CollectionDocument extends PaymentDocument {
  readonly order: Omit<CollectionRequest, 'amount' | 'flow'>;
  readonly flow: CompletionFlow;
  readonly amount: bigint;
  readonly currency: string;
  readonly fee: bigint;
  readonly rail: string;
  readonly acceptedAt: Date;
  readonly traceparent: string;
  readonly causedBy: string;
  readonly status: CollectionStatus;
  readonly step: CollectionStep;
  readonly version: bigint;
  readonly attempts: number;
  readonly earlierUnclear: boolean;
  readonly attemptedAt: Date;
  readonly completionAttempts: number;
  /** Absent while no completion is in progress. */
  readonly completionLease?: { readonly token: bigint; readonly until: Date };
  readonly completionClosed: boolean;
  readonly feeSchedule: FeeSchedule;
  readonly amountReceived?: bigint;
  readonly railFee: bigint;
  readonly failureReason?: string;
  /** Absent in collections from before steps were recorded. */
  readonly timeline?: readonly TimelineStepDocument[];
}

/** The collections of this service's database. */
export type CollectionStore = PaymentStore<Collection, CollectionDocument>;

/** A collection before and after. */
export type CollectionChange = PaymentChange<Collection>;

/** Opens the store. */
export function openCollectionStore(db: Db): CollectionStore {
  const collection = db.collection<CollectionDocument>('collections');
  return openPaymentStore({ collection, toDocument, fromDocument, toUpdate });
}

function toUpdate(after: Collection) {
  const gone = {
    ...(after.dueAtMs === null && { dueAt: true, claim: true }),
    ...(after.completionLease === null && { completionLease: true }),
  };
  return {
    $set: { ...mutable(after), ...(after.dueAtMs !== null && { dueAt: new Date(after.dueAtMs) }) },
    ...(Object.keys(gone).length > 0 && { $unset: gone }),
  };
}

function mutable(collection: Collection) {
  const { completionLease: lease, amountReceived, failureReason } = collection;
  return {
    status: collection.status,
    step: collection.step,
    version: collection.version,
    attempts: collection.attempts,
    earlierUnclear: collection.earlierUnclear,
    completionAttempts: collection.completionAttempts,
    completionClosed: collection.completionClosed,
    fee: collection.fee,
    railFee: collection.railFee,
    causedBy: collection.causedBy,
    timeline: timelineToDocument(collection.timeline),
    ...(lease !== null && { completionLease: { token: lease.token, until: new Date(lease.untilMs) } }),
    ...(amountReceived !== null && { amountReceived }),
    ...(failureReason !== null && { failureReason }),
  };
}

function toDocument(collection: Collection): CollectionDocument {
  const { amount, flow, ...order } = collection.order;
  return {
    _id: paymentId({ merchantId: collection.merchantId, merchantReference: order.merchantReference }),
    reference: collection.reference,
    merchantId: collection.merchantId,
    order,
    flow,
    amount: amount.minor,
    currency: amount.currency,
    feeSchedule: collection.feeSchedule,
    rail: collection.rail,
    acceptedAt: new Date(collection.acceptedAtMs),
    traceparent: collection.traceparent,
    attemptedAt: new Date(collection.attemptedAtMs),
    ...mutable(collection),
  };
}

/** Reads a collection as MongoDB holds it. */
export function fromDocument(document: CollectionDocument): Collection {
  return {
    reference: document.reference,
    merchantId: document.merchantId,
    order: {
      ...document.order,
      amount: { minor: document.amount, currency: document.currency },
      flow: document.flow,
    },
    fee: document.fee,
    rail: document.rail,
    acceptedAtMs: document.acceptedAt.getTime(),
    traceparent: document.traceparent,
    causedBy: document.causedBy,
    status: document.status,
    step: document.step,
    version: document.version,
    attempts: document.attempts,
    earlierUnclear: document.earlierUnclear,
    attemptedAtMs: document.attemptedAt.getTime(),
    dueAtMs: document.dueAt?.getTime() ?? null,
    completionAttempts: document.completionAttempts,
    completionLease: document.completionLease
      ? { token: document.completionLease.token, untilMs: document.completionLease.until.getTime() }
      : null,
    completionClosed: document.completionClosed,
    feeSchedule: document.feeSchedule,
    amountReceived: document.amountReceived ?? null,
    railFee: document.railFee,
    failureReason: document.failureReason ?? null,
    timeline: timelineFromDocument(document.timeline),
  };
}
