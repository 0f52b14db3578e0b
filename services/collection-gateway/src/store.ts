import type { CompletionFlow } from '@pesewa/contracts';
import type { Claimable } from '@pesewa/messaging';
import type { AnyBulkWriteOperation, ClientSession, Db, Collection as MongoCollection } from 'mongodb';
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
export interface CollectionDocument extends Claimable {
  readonly reference: string;
  readonly merchantId: string;
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
export interface CollectionStore {
  readonly collection: MongoCollection<CollectionDocument>;
  readonly insert: (collections: readonly Collection[], session: ClientSession) => Promise<void>;
  /** By the merchant's reference, else by ours, always within the merchant (design 9). */
  readonly find: (merchantId: string, reference: string) => Promise<Collection | undefined>;
  readonly findAccepted: (
    keys: readonly CollectionKey[],
    session?: ClientSession,
  ) => Promise<readonly Collection[]>;
  readonly findByReferences: (
    references: readonly string[],
    session: ClientSession,
  ) => Promise<readonly Collection[]>;
  /** Saves changed states, each against the version it was read at; a conflict aborts the transaction. */
  readonly save: (changes: readonly CollectionChange[], session: ClientSession) => Promise<void>;
}

/** What makes a collection unique to its merchant. */
export interface CollectionKey {
  readonly merchantId: string;
  readonly merchantReference: string;
}

/** A collection before and after. */
export interface CollectionChange {
  readonly before: Collection;
  readonly after: Collection;
}

/** Opens the store and makes sure of its indexes. */
export async function openCollectionStore(db: Db): Promise<CollectionStore> {
  const collection = db.collection<CollectionDocument>('collections');
  await collection.createIndexes([
    { key: { reference: 1 }, unique: true },
    { key: { dueAt: 1 }, partialFilterExpression: { step: 'queued' } },
  ]);
  return {
    collection,
    insert: async (collections, session) => {
      await collection.insertMany(collections.map(toDocument), { session });
    },
    find: async (merchantId, reference) => {
      const own = await collection.findOne({ _id: documentId({ merchantId, merchantReference: reference }) });
      const found = own ?? (await collection.findOne({ reference, merchantId }));
      return found ? fromDocument(found) : undefined;
    },
    findAccepted: async (keys, session) => {
      const options = session ? { session } : {};
      const found = await collection.find({ _id: { $in: keys.map(documentId) } }, options).toArray();
      return found.map(fromDocument);
    },
    findByReferences: async (references, session) => {
      const found = await collection.find({ reference: { $in: [...references] } }, { session }).toArray();
      return found.map(fromDocument);
    },
    save: async (changes, session) => {
      if (changes.length === 0) return;
      const saved = await collection.bulkWrite(changes.map(toUpdate), { session, ordered: false });
      if (saved.matchedCount !== changes.length) {
        throw new Error('a collection changed under a transaction that held it');
      }
    },
  };
}

function documentId(key: CollectionKey): string {
  return `${key.merchantId}:${key.merchantReference}`;
}

function toUpdate({ before, after }: CollectionChange): AnyBulkWriteOperation<CollectionDocument> {
  return {
    updateOne: {
      filter: { reference: before.reference, version: before.version },
      update: {
        $set: {
          ...mutable(after),
          ...(after.dueAtMs !== null && { dueAt: new Date(after.dueAtMs) }),
          ...(after.failureReason !== null && { failureReason: after.failureReason }),
        },
        ...(after.dueAtMs === null && { $unset: { dueAt: true, claim: true } }),
      },
    },
  };
}

function mutable(collection: Collection) {
  const { status, step, version, attempts, earlierUnclear, completionAttempts, railFee } = collection;
  return { status, step, version, attempts, earlierUnclear, completionAttempts, railFee };
}

function toDocument(collection: Collection): CollectionDocument {
  const { amount, flow, ...order } = collection.order;
  return {
    _id: documentId({ merchantId: collection.merchantId, merchantReference: order.merchantReference }),
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
