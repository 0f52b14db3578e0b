import {
  type ArchivedDocument,
  fromPaymentDocument,
  isArchivedDocument,
  isBeforeHorizon,
  openPaymentStore,
  type PaymentChange,
  type PaymentDocument,
  type PaymentOrArchived,
  type PaymentStore,
  paymentId,
  paymentUpdate,
  readArchived,
  type TimelineStep,
  toPaymentDocument,
} from '@pesewa/payments';
import type { ClientSession, Db, Filter, FindOptions } from 'mongodb';
import type { RecordedDecision } from './domain/decision.ts';
import type { PayoutState, PayoutTerms } from './domain/payout-state.ts';
import type { RebuiltRequest } from './domain/rebuilt-payout.ts';
import type { PayoutRequest } from './domain/submission.ts';

/** A payout: its order, its route and its state. */
export interface Payout extends PayoutState, PayoutTerms {
  /** An order that was rebuilt from events names no person: see `recipientKnown`. */
  readonly order: PayoutRequest | RebuiltRequest;
  /** The id of the event that changed it last, which is the cause of whatever follows without a new event. */
  readonly causedBy: string | null;
  /** Its timeline, for operators; nothing is decided by it. */
  readonly timeline: readonly TimelineStep[];
}

/** What makes a payout or batch unique to its merchant. */
export type PayoutKey = Parameters<typeof paymentId>[0];

/** A batch's claim on its own reference, so that single payouts, batches and items share one namespace (ADR 14). */
export interface Reservation extends PayoutKey {
  /** Our reference of the batch. */
  readonly batchReference: string;
  readonly contentHash: string;
}

/** What a reference is used for; `archived` is a payout or batch so old that its content is not known. */
export type ReferenceUse =
  | { readonly kind: 'payout'; readonly payout: Payout }
  | { readonly kind: 'batch'; readonly contentHash: string }
  | { readonly kind: 'archived' };

/** The two queues of a rail, so that a large batch does not delay other merchants' single payouts. */
export const submissionQueues = ['single', 'batch'] as const;

/** A payout as MongoDB holds it; `_id` is the merchant and its reference, so that each is accepted only once. */
export interface PayoutDocument extends PaymentDocument<Payout> {
  readonly order: Omit<PayoutRequest, 'amount'> | Omit<RebuiltRequest, 'amount'>;
  readonly contentHash: string;
  readonly batchReference?: string;
  /** Which of its rail's queues it is in; `none` if it must never be sent. */
  readonly queue: (typeof submissionQueues)[number] | 'none';
  readonly causedBy?: string;
  readonly acceptedByRail?: true;
  readonly statusReason?: string;
  readonly decided?: DecidedDocument;
}

/** A decision of people, as MongoDB holds it. */
interface DecidedDocument extends Omit<RecordedDecision, 'knownAtMs' | 'decidedAtMs'> {
  readonly knownAt: Date;
  readonly decidedAt: Date;
}

/** A reservation as MongoDB holds it, among the payouts; it has neither status nor step, so nothing advances it. */
interface ReservationDocument {
  readonly _id: string;
  readonly reference: string;
  readonly merchantId: string;
  readonly kind: 'batch';
  readonly contentHash: string;
}

type StoredDocument = PayoutDocument | ReservationDocument | ArchivedDocument;

/** The payouts of this service, and what batches reserve among them. */
export interface PayoutStore extends Omit<PaymentStore<Payout, PayoutDocument>, 'findByMerchantReferences'> {
  readonly reserve: (reservation: Reservation, session: ClientSession) => Promise<void>;
  /** What each of the references is used for, by {@link paymentId}; unused ones are left out. */
  readonly findUses: (
    keys: readonly PayoutKey[],
    session?: ClientSession,
  ) => Promise<ReadonlyMap<string, ReferenceUse>>;
  /** Those of these payouts, by our references, that have not ended. */
  readonly findUnended: (references: readonly string[], session: ClientSession) => Promise<readonly Payout[]>;
  /** Which of these payouts, by our references, have no record at all. */
  readonly findMissing: (references: ReadonlySet<string>, session?: ClientSession) => Promise<Set<string>>;
  /** When the newest payout was accepted of those that merchants sent to this database; undefined if there is none. */
  readonly newestAcceptedMs: () => Promise<number | undefined>;
  /** Which of the references are used, as {@link paymentId}; cheap for many. */
  readonly findUsedIds: (keys: readonly PayoutKey[], session?: ClientSession) => Promise<ReadonlySet<string>>;
}

/** A payout before and after. */
export type PayoutChange = PaymentChange<Payout>;

/**
 * Makes a negative answer reliable: a deposed primary that has not noticed it can't answer this read, and any other
 * primary shows every payout accepted before the read. It costs a round trip to a majority.
 */
const LATEST: FindOptions = {
  readConcern: { level: 'linearizable' },
  readPreference: 'primary',
  maxTimeMS: 2_000,
};

/** Opens the store. */
export function openPayoutStore(db: Db): PayoutStore {
  const collection = db.collection<PayoutDocument>('payouts');
  const reservations = db.collection<ReservationDocument>('payouts');
  const payments = openPaymentStore({ collection, toDocument, fromDocument, toUpdate });
  const findOne = (filter: Filter<PayoutDocument>, options: FindOptions) =>
    collection.findOne<StoredDocument>(filter, options);
  const findEither = async (merchantId: string, merchantReference: string, options: FindOptions = {}) =>
    (await findOne({ _id: paymentId({ merchantId, merchantReference }) }, options)) ??
    (await findOne({ reference: merchantReference, merchantId }, options));
  return {
    ...payments,
    find: async (merchantId, reference) => {
      const found =
        (await findEither(merchantId, reference)) ?? (await findEither(merchantId, reference, LATEST));
      if (found) return foundIn(found);
      // Once archived it is no longer found by our reference, and after its `09` it is never said not to be there.
      const isOld = await isBeforeHorizon(db, 'payouts', { prefix: 'po', reference });
      return isOld ? { archived: null } : undefined;
    },
    reserve: async (reservation, session) => {
      const { merchantId, batchReference, contentHash } = reservation;
      const _id = paymentId(reservation);
      await reservations.insertOne(
        { _id, reference: batchReference, merchantId, kind: 'batch', contentHash },
        { session },
      );
    },
    findUses: async (keys, session) => {
      const filter: Filter<PayoutDocument> = { _id: { $in: keys.map(paymentId) } };
      const found = collection.find<StoredDocument>(filter, {
        ...(session && { session }),
      });
      return new Map((await found.toArray()).map((document) => [document._id, useIn(document)]));
    },
    findUnended: async (references, session) => {
      const filter: Filter<PayoutDocument> = { reference: { $in: references }, status: 'INITIALIZED' };
      // While a rail is down, the index of what has not ended may hold a million others.
      const found = collection.find(filter, { session, hint: { reference: 1 } });
      return (await found.toArray()).map(fromDocument);
    },
    findMissing: async (references, session) => {
      const options = { projection: { reference: 1 }, ...(session && { session }) };
      const found = collection.find({ reference: { $in: [...references] } }, options);
      const known = new Set((await found.toArray()).map(({ reference }) => reference));
      return new Set([...references].filter((reference) => !known.has(reference)));
    },
    newestAcceptedMs: async () => {
      // Our references sort by time and are indexed.
      const sent = { reference: /^po-/, 'order.sender': { $ne: null } };
      const newest = { sort: { reference: -1 }, projection: { acceptedAt: 1 } } as const;
      return (await collection.findOne(sent, newest))?.acceptedAt.getTime();
    },
    findUsedIds: async (keys, session) => {
      const filter = { _id: { $in: keys.map(paymentId) } };
      const options = { projection: { _id: 1 }, ...(session && { session }) };
      return new Set((await collection.find(filter, options).toArray()).map(({ _id }) => _id));
    },
  };
}

function isReservation(document: PayoutDocument | ReservationDocument): document is ReservationDocument {
  return 'kind' in document;
}

/** What a lookup finds: a batch's reference is that of no payout. */
function foundIn(document: StoredDocument): PaymentOrArchived<Payout> | undefined {
  if (isArchivedDocument(document)) return document.end === undefined ? undefined : readArchived(document);
  return isReservation(document) ? undefined : fromDocument(document);
}

function useIn(document: StoredDocument): ReferenceUse {
  if (isArchivedDocument(document)) return { kind: 'archived' };
  if (isReservation(document)) return { kind: 'batch', contentHash: document.contentHash };
  return { kind: 'payout', payout: fromDocument(document) };
}

function toUpdate(after: Payout) {
  const { statusReason } = after;
  return paymentUpdate(after, { ...mutable(after), ...(statusReason !== null && { statusReason }) });
}

function mutable({ decided, causedBy, acceptedByRail }: Payout) {
  return {
    ...(acceptedByRail && { acceptedByRail }),
    ...(causedBy !== null && { causedBy }),
    ...(decided !== null && { decided: decidedToDocument(decided) }),
  };
}

function decidedToDocument({ knownAtMs, decidedAtMs, ...decided }: RecordedDecision): DecidedDocument {
  return { ...decided, knownAt: new Date(knownAtMs), decidedAt: new Date(decidedAtMs) };
}

function decidedFromDocument({ knownAt, decidedAt, ...decided }: DecidedDocument): RecordedDecision {
  return { ...decided, knownAtMs: knownAt.getTime(), decidedAtMs: decidedAt.getTime() };
}

/** Which of its rail's queues a payout is in; `none` if it must never be sent. */
export function queueOf({ order, batchReference }: Payout): PayoutDocument['queue'] {
  if (order.sender === null) return 'none';
  return batchReference === null ? 'single' : 'batch';
}

/** A payout as MongoDB holds it. */
export function toDocument(payout: Payout): PayoutDocument {
  const { amount: _amount, ...order } = payout.order;
  const { contentHash, batchReference } = payout;
  return {
    ...toPaymentDocument(payout),
    order,
    contentHash,
    ...(batchReference !== null && { batchReference }),
    queue: queueOf(payout),
    ...mutable(payout),
  };
}

/** Reads a payout as MongoDB holds it. */
export function fromDocument(document: PayoutDocument): Payout {
  return {
    ...fromPaymentDocument<Payout>(document),
    order: orderFrom(document),
    contentHash: document.contentHash,
    batchReference: document.batchReference ?? null,
    causedBy: document.causedBy ?? null,
    attemptedAtMs: document.attemptedAt?.getTime() ?? null,
    acceptedByRail: document.acceptedByRail ?? false,
    statusReason: document.statusReason ?? null,
    recipientKnown: document.order.sender !== null,
    decided: document.decided ? decidedFromDocument(document.decided) : null,
  };
}

function orderFrom({ order, ...rest }: PayoutDocument): Payout['order'] {
  const amount = { minor: rest.amount, currency: rest.currency };
  return order.sender === null
    ? { ...order, transactionType: undefined, amount }
    : { ...order, transactionType: order.transactionType, amount };
}
