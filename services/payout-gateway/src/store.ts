import type { PayoutStatus } from '@pesewa/contracts';
import type { Claimable } from '@pesewa/messaging';
import type { AnyBulkWriteOperation, ClientSession, Collection, Db } from 'mongodb';
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
export interface PayoutDocument extends Claimable {
  readonly reference: string;
  readonly merchantId: string;
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
export interface PayoutStore {
  readonly collection: Collection<PayoutDocument>;
  readonly insert: (payouts: readonly Payout[], session: ClientSession) => Promise<void>;
  readonly find: (merchantId: string, reference: string) => Promise<Payout | undefined>;
  readonly findAccepted: (keys: readonly PayoutKey[], session: ClientSession) => Promise<readonly Payout[]>;
  readonly findByReferences: (
    references: readonly string[],
    session: ClientSession,
  ) => Promise<readonly Payout[]>;
  /** Saves changed states, each against the version it was read at; a conflict aborts the transaction. */
  readonly save: (changes: readonly PayoutChange[], session: ClientSession) => Promise<void>;
}

/** What makes a payout unique to its merchant. */
export interface PayoutKey {
  readonly merchantId: string;
  readonly merchantReference: string;
}

/** A payout before and after. */
export interface PayoutChange {
  readonly before: Payout;
  readonly after: Payout;
}

/** Opens the store and makes sure of its indexes. */
export async function openPayoutStore(db: Db): Promise<PayoutStore> {
  const collection = db.collection<PayoutDocument>('payouts');
  await collection.createIndexes([
    { key: { reference: 1 }, unique: true },
    { key: { dueAt: 1 }, partialFilterExpression: { step: 'held' } },
  ]);
  return {
    collection,
    insert: async (payouts, session) =>
      void (await collection.insertMany(payouts.map(toDocument), { session })),
    find: async (merchantId, reference) => {
      const own = await collection.findOne({ _id: documentId({ merchantId, merchantReference: reference }) });
      const found = own ?? (await collection.findOne({ reference, merchantId }));
      return found ? fromDocument(found) : undefined;
    },
    findAccepted: async (keys, session) => {
      const found = await collection.find({ _id: { $in: keys.map(documentId) } }, { session }).toArray();
      return found.map(fromDocument);
    },
    findByReferences: async (references, session) => {
      const found = await collection.find({ reference: { $in: [...references] } }, { session }).toArray();
      return found.map(fromDocument);
    },
    save: async (changes, session) => {
      if (changes.length === 0) return;
      const saved = await collection.bulkWrite(changes.map(toUpdate), { session, ordered: false });
      if (saved.matchedCount !== changes.length)
        throw new Error('a payout changed under a transaction that held it');
    },
  };
}

function documentId(key: PayoutKey): string {
  return `${key.merchantId}:${key.merchantReference}`;
}

function toUpdate({ before, after }: PayoutChange): AnyBulkWriteOperation<PayoutDocument> {
  return {
    updateOne: {
      filter: { reference: before.reference, version: before.version },
      update: {
        $set: {
          ...mutable(after),
          ...(after.dueAtMs !== null && { dueAt: new Date(after.dueAtMs) }),
          ...(after.statusReason !== null && { statusReason: after.statusReason }),
        },
        ...(after.dueAtMs === null && { $unset: { dueAt: true, claim: true } }),
      },
    },
  };
}

function mutable(payout: Payout) {
  const { status, step, version, attempts, earlierUnclear, railFee } = payout;
  return { status, step, version, attempts, earlierUnclear, railFee };
}

function toDocument(payout: Payout): PayoutDocument {
  const { amount, ...order } = payout.order;
  return {
    _id: documentId({ merchantId: payout.merchantId, merchantReference: order.merchantReference }),
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
