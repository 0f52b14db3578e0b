import type { PayoutStatus } from '@pesewa/contracts';
import {
  openPaymentStore,
  type PaymentChange,
  type PaymentDocument,
  type PaymentStore,
  paymentId,
} from '@pesewa/messaging';
import type { Db } from 'mongodb';
import type { PayoutState, PayoutStep } from './domain/payout.ts';
import type { PayoutOrder } from './domain/submission.ts';

/** A payout: what was ordered, where it goes, and where it stands. */
export interface Payout extends PayoutState {
  /** Ours; the rail gets it as its client's reference. */
  readonly reference: string;
  readonly merchantId: string;
  readonly order: PayoutOrder;
  readonly contentHash: string;
  /** Minor units of the order's currency. */
  readonly fee: bigint;
  readonly rail: string;
  readonly acceptedAtMs: number;
}

/** A payout as MongoDB holds it; `_id` is the merchant and its reference, so each is accepted once, for ever. */
export interface PayoutDocument extends PaymentDocument {
  readonly order: Omit<PayoutOrder, 'amount'>;
  readonly amount: bigint;
  readonly currency: string;
  readonly contentHash: string;
  readonly fee: bigint;
  readonly rail: string;
  readonly acceptedAt: Date;
  readonly status: PayoutStatus;
  readonly step: PayoutStep;
  readonly version: bigint;
  readonly attempts: number;
  readonly earlierUnclear: boolean;
  readonly attemptedAt?: Date;
  readonly railFee: bigint;
  readonly statusReason?: string;
}

/** The payouts of this service's database. */
export type PayoutStore = PaymentStore<Payout, PayoutDocument>;

/** A payout before and after. */
export type PayoutChange = PaymentChange<Payout>;

/** Opens the store and makes sure of its indexes. */
export function openPayoutStore(db: Db): Promise<PayoutStore> {
  const collection = db.collection<PayoutDocument>('payouts');
  return openPaymentStore({ collection, due: 'held', toDocument, fromDocument, toUpdate });
}

function toUpdate(after: Payout) {
  return {
    $set: {
      ...mutable(after),
      ...(after.dueAtMs !== null && { dueAt: new Date(after.dueAtMs) }),
      ...(after.statusReason !== null && { statusReason: after.statusReason }),
    },
    ...(after.dueAtMs === null && { $unset: { dueAt: true, claim: true } }),
  };
}

function mutable(payout: Payout) {
  const { status, step, version, attempts, earlierUnclear, railFee } = payout;
  return { status, step, version, attempts, earlierUnclear, railFee };
}

function toDocument(payout: Payout): PayoutDocument {
  const { amount, ...order } = payout.order;
  return {
    _id: paymentId({ merchantId: payout.merchantId, merchantReference: order.merchantReference }),
    reference: payout.reference,
    merchantId: payout.merchantId,
    order,
    amount: amount.minor,
    currency: amount.currency,
    contentHash: payout.contentHash,
    fee: payout.fee,
    rail: payout.rail,
    acceptedAt: new Date(payout.acceptedAtMs),
    ...mutable(payout),
  };
}

/** Reads a payout as MongoDB holds it. */
export function fromDocument(document: PayoutDocument): Payout {
  return {
    reference: document.reference,
    merchantId: document.merchantId,
    order: {
      ...document.order,
      transactionType: document.order.transactionType,
      amount: { minor: document.amount, currency: document.currency },
    },
    contentHash: document.contentHash,
    fee: document.fee,
    rail: document.rail,
    acceptedAtMs: document.acceptedAt.getTime(),
    status: document.status,
    step: document.step,
    version: document.version,
    attempts: document.attempts,
    earlierUnclear: document.earlierUnclear,
    attemptedAtMs: document.attemptedAt?.getTime() ?? null,
    dueAtMs: document.dueAt?.getTime() ?? null,
    railFee: document.railFee,
    statusReason: document.statusReason ?? null,
  };
}
