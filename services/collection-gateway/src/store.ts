import type { CompletionFlow } from '@pesewa/contracts';
import {
  fromPaymentDocument,
  openPaymentStore,
  type PaymentChange,
  type PaymentDocument,
  type PaymentStore,
  paymentUpdate,
  type TimelineStep,
  toPaymentDocument,
} from '@pesewa/payments';
import type { Db } from 'mongodb';
import type { CollectionRequest } from './domain/initiation.ts';
import type { CollectionState } from './domain/state.ts';

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
export interface CollectionDocument
  extends PaymentDocument<Collection>,
    Pick<Collection, 'causedBy' | 'completionAttempts' | 'completionClosed' | 'feeSchedule'> {
  readonly order: Omit<CollectionRequest, 'amount' | 'flow'>;
  readonly flow: CompletionFlow;
  readonly attemptedAt: Date;
  /** Absent while no completion is in progress. */
  readonly completionLease?: { readonly token: bigint; readonly until: Date };
  readonly amountReceived?: bigint;
  readonly failureReason?: string;
}

/** The collections of this service's database. */
export type CollectionStore = PaymentStore<Collection, CollectionDocument>;

/** A collection before and after. */
export type CollectionChange = PaymentChange<Collection>;

/** Opens the store. */
export function openCollectionStore(db: Db): CollectionStore {
  const collection = db.collection<CollectionDocument>('collections');
  return openPaymentStore({ collection, prefix: 'co', toDocument, fromDocument, toUpdate });
}

function toUpdate(after: Collection) {
  const further = { ...mutable(after), fee: after.fee };
  return paymentUpdate(after, further, after.completionLease === null ? { completionLease: true } : {});
}

function mutable(collection: Collection) {
  const { completionLease: lease, amountReceived, failureReason } = collection;
  return {
    completionAttempts: collection.completionAttempts,
    completionClosed: collection.completionClosed,
    causedBy: collection.causedBy,
    ...(lease !== null && { completionLease: { token: lease.token, until: new Date(lease.untilMs) } }),
    ...(amountReceived !== null && { amountReceived }),
    ...(failureReason !== null && { failureReason }),
  };
}

function toDocument(collection: Collection): CollectionDocument {
  const { amount: _amount, flow, ...order } = collection.order;
  return {
    ...toPaymentDocument(collection),
    order,
    flow,
    feeSchedule: collection.feeSchedule,
    attemptedAt: new Date(collection.attemptedAtMs),
    ...mutable(collection),
  };
}

/** Reads a collection as MongoDB holds it. */
export function fromDocument(document: CollectionDocument): Collection {
  const { amount, currency, flow, completionLease: lease } = document;
  return {
    ...fromPaymentDocument<Collection>(document),
    order: { ...document.order, amount: { minor: amount, currency }, flow },
    causedBy: document.causedBy,
    attemptedAtMs: document.attemptedAt.getTime(),
    completionAttempts: document.completionAttempts,
    completionLease: lease ? { token: lease.token, untilMs: lease.until.getTime() } : null,
    completionClosed: document.completionClosed,
    feeSchedule: document.feeSchedule,
    amountReceived: document.amountReceived ?? null,
    failureReason: document.failureReason ?? null,
  };
}
