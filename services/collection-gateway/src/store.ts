import type { CompletionFlow } from '@pesewa/contracts';
import {
  openPaymentStore,
  type PaymentChange,
  type PaymentDocument,
  type PaymentStore,
  paymentId,
} from '@pesewa/messaging';
import type { Db } from 'mongodb';
import type { CollectionState, CollectionStatus, CollectionStep } from './domain/collection.ts';
import type { CollectionOrder } from './domain/initiation.ts';

/** A collection: what was ordered, where it goes, and where it stands. */
export interface Collection extends CollectionState {
  /** Ours; the rail gets it as its client's reference. */
  readonly reference: string;
  readonly merchantId: string;
  /** Our own fee in minor units, taken when the customer pays. */
  readonly fee: bigint;
  readonly rail: string;
  readonly acceptedAtMs: number;
}

/** A collection as MongoDB holds it; `_id` is the merchant and its reference, so each is accepted once, for ever. */
export interface CollectionDocument extends PaymentDocument {
  readonly order: Omit<CollectionOrder, 'amount' | 'flow'>;
  readonly flow: CompletionFlow;
  readonly amount: bigint;
  readonly currency: string;
  readonly fee: bigint;
  readonly rail: string;
  readonly acceptedAt: Date;
  readonly status: CollectionStatus;
  readonly step: CollectionStep;
  readonly version: bigint;
  readonly attempts: number;
  readonly earlierUnclear: boolean;
  readonly attemptedAt: Date;
  readonly completionAttempts: number;
  readonly railFee: bigint;
  readonly failureReason?: string;
}

/** The collections of this service's database. */
export type CollectionStore = PaymentStore<Collection, CollectionDocument>;

/** A collection before and after. */
export type CollectionChange = PaymentChange<Collection>;

/** Opens the store and makes sure of its indexes. */
export function openCollectionStore(db: Db): Promise<CollectionStore> {
  const collection = db.collection<CollectionDocument>('collections');
  return openPaymentStore({ collection, due: 'queued', toDocument, fromDocument, toUpdate });
}

function toUpdate(after: Collection) {
  return {
    $set: {
      ...mutable(after),
      ...(after.dueAtMs !== null && { dueAt: new Date(after.dueAtMs) }),
      ...(after.failureReason !== null && { failureReason: after.failureReason }),
    },
    ...(after.dueAtMs === null && { $unset: { dueAt: true, claim: true } }),
  };
}

function mutable(collection: Collection) {
  const { status, step, version, attempts, earlierUnclear, completionAttempts, railFee } = collection;
  return { status, step, version, attempts, earlierUnclear, completionAttempts, railFee };
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
    fee: collection.fee,
    rail: collection.rail,
    acceptedAt: new Date(collection.acceptedAtMs),
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
    status: document.status,
    step: document.step,
    version: document.version,
    attempts: document.attempts,
    earlierUnclear: document.earlierUnclear,
    attemptedAtMs: document.attemptedAt.getTime(),
    dueAtMs: document.dueAt?.getTime() ?? null,
    completionAttempts: document.completionAttempts,
    railFee: document.railFee,
    failureReason: document.failureReason ?? null,
  };
}
