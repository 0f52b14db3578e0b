import type {
  AnyBulkWriteOperation,
  ClientSession,
  Collection,
  Filter,
  IndexDescription,
  OptionalUnlessRequiredId,
} from 'mongodb';
import type { Claimable } from './claim.ts';

/** What every payment of a merchant has, payout or collection. */
export interface PaymentRecord {
  /** Ours. */
  readonly reference: string;
  readonly merchantId: string;
  readonly version: bigint;
}

/** A payment as MongoDB holds it; `_id` is the merchant and its reference, so each is accepted once, for ever. */
export interface PaymentDocument extends PaymentRecord, Claimable {}

/** What makes a payment unique to its merchant. */
export interface PaymentKey {
  readonly merchantId: string;
  readonly merchantReference: string;
}

/** A payment before and after. */
export interface PaymentChange<Payment> {
  readonly before: Payment;
  readonly after: Payment;
}

/** The payments of one gateway. */
export interface PaymentStore<Payment, Document extends PaymentDocument> {
  readonly collection: Collection<Document>;
  readonly insert: (payments: readonly Payment[], session: ClientSession) => Promise<void>;
  /** By the merchant's reference, else by ours, always within the merchant (contract 10.3). */
  readonly find: (merchantId: string, reference: string) => Promise<Payment | undefined>;
  readonly findAccepted: (
    keys: readonly PaymentKey[],
    session?: ClientSession,
  ) => Promise<readonly Payment[]>;
  readonly findByReferences: (
    references: readonly string[],
    session?: ClientSession,
  ) => Promise<readonly Payment[]>;
  /** Saves changed states, each against the version it was read at; a conflict aborts the transaction. */
  readonly save: (changes: readonly PaymentChange<Payment>[], session: ClientSession) => Promise<void>;
}

/** The `_id` of a payment. */
export function paymentId({ merchantId, merchantReference }: PaymentKey): string {
  return `${merchantId}:${merchantReference}`;
}

/** What a claim writes when the claimed payment is about to be sent to its rail: the attempt, before the call. */
export function attemptMark(step: string) {
  return {
    step,
    attempts: { $add: ['$attempts', 1] },
    version: { $add: ['$version', 1n] },
    attemptedAt: '$$NOW',
  };
}

/**
 * The indexes of a gateway's payments. Our reference is unique by construction and so not by an index: `_id` is the one unique
 * key, by which the collection can be sharded. Those in the step `due` are claimable by `dueAt`, within equal fields of
 * `claimedWithin` where there are any.
 */
export function paymentIndexes(options: {
  readonly due: string;
  /** The status of those that have not ended; they are found, oldest first, from the index alone (ADR 27). */
  readonly unended: string;
  readonly claimedWithin?: readonly string[];
}): readonly IndexDescription[] {
  const claimKey = [...(options.claimedWithin ?? []), 'dueAt'].map((field) => [field, 1] as const);
  return [
    { key: { reference: 1 } },
    { key: Object.fromEntries(claimKey), partialFilterExpression: { step: options.due } },
    {
      key: { status: 1, acceptedAt: 1, reference: 1 },
      partialFilterExpression: { status: options.unended },
    },
  ];
}

/** Opens the store of a gateway's payments. */
export function openPaymentStore<Payment extends PaymentRecord, Document extends PaymentDocument>(options: {
  readonly collection: Collection<Document>;
  readonly toDocument: (payment: Payment) => Document;
  readonly fromDocument: (document: Document) => Payment;
  /** The update that leads from a stored payment to this one; what never changes may be left out. */
  readonly toUpdate: (after: Payment) => object;
}): PaymentStore<Payment, Document> {
  const { collection, fromDocument } = options;
  const findAll = async (filter: object, session?: ClientSession) => {
    const found = await collection.find(filter as Filter<Document>, session ? { session } : {}).toArray();
    return found.map((document) => fromDocument(document as Document));
  };
  const toWrite = ({ before, after }: PaymentChange<Payment>): AnyBulkWriteOperation<Document> => ({
    updateOne: {
      filter: { reference: before.reference, version: before.version } as Filter<Document>,
      update: options.toUpdate(after),
    },
  });
  return {
    collection,
    insert: async (payments, session) => {
      // Every document brings its own _id, which the driver's type can't see through a generic.
      const documents: unknown = payments.map(options.toDocument);
      await collection.insertMany(documents as OptionalUnlessRequiredId<Document>[], { session });
    },
    find: async (merchantId, reference) => {
      const [own] = await findAll({ _id: paymentId({ merchantId, merchantReference: reference }) });
      if (own) return own;
      const [byOurs] = await findAll({ reference, merchantId });
      return byOurs;
    },
    findAccepted: (keys, session) => findAll({ _id: { $in: keys.map(paymentId) } }, session),
    findByReferences: (references, session) => findAll({ reference: { $in: [...references] } }, session),
    save: async (changes, session) => {
      if (changes.length === 0) return;
      const saved = await collection.bulkWrite(changes.map(toWrite), { session, ordered: false });
      if (saved.matchedCount !== changes.length) {
        throw new Error('a payment changed under a transaction that held it');
      }
    },
  };
}
