import type { Money } from '@pesewa/kernel';
import {
  fromPaymentDocument,
  listNewest,
  NOT_REFUSED,
  openPaymentStore,
  type PaymentChange,
  type PaymentDocument,
  type PaymentQuery,
  paymentId,
  paymentUpdate,
  type TimelineStep,
  toPaymentDocument,
} from '@pesewa/payments';
import type { ClientSession, Db, Filter } from 'mongodb';
import type { RecordedDecision } from './domain/operator-decision.ts';
import type { Completion, PayoutState, PayoutTerms } from './domain/payout-state.ts';
import type { RebuiltRequest } from './domain/rebuilt-payout.ts';
import type { PayoutRequest } from './domain/request.ts';

/** A payout: its order, its route and its state. */
export interface Payout extends PayoutState, PayoutTerms {
  /** An order that was rebuilt from events names no person: see `recipientKnown`. */
  readonly order: PayoutRequest | RebuiltRequest;
  /** The id of the event that changed it last, which is the cause of whatever follows without a new event. */
  readonly causedBy: string | null;
  readonly completion?: Completion;
  /** Its people and its rail's own words are erased (ADR 50). */
  readonly erased?: true;
  /** Its timeline, for operators; it decides nothing but whether the rail's acknowledgement can be published again. */
  readonly timeline: readonly TimelineStep[];
}

/** What makes a payout or batch unique to its merchant. */
export type PayoutKey = Parameters<typeof paymentId>[0];

/** A batch's reservation of its own reference, so that single payouts, batches and items share one namespace (ADR 14). */
export interface Reservation extends PayoutKey {
  /** Our reference of the batch. */
  readonly batchReference: string;
  readonly contentHash: string;
  readonly acceptedAtMs: number;
  readonly total: Money;
  readonly itemCount: number;
  /** The least and the greatest of our references of its items, between which they are found. */
  readonly firstItem: string;
  readonly lastItem: string;
}

/** What a reference is used for. */
export type ReferenceUse =
  | { readonly kind: 'payout'; readonly payout: Payout }
  | { readonly kind: 'batch'; readonly contentHash: string };

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
  readonly completion?: Completion;
  readonly erased?: true;
  readonly acknowledgedByRail?: true;
  readonly statusReason?: string;
  readonly decided?: DecidedDocument;
  readonly cancelRequestedBy?: string;
}

/** A decision of people, as MongoDB holds it. */
interface DecidedDocument extends Omit<RecordedDecision, 'knownAtMs' | 'decidedAtMs'> {
  readonly knownAt: Date;
  readonly decidedAt: Date;
}

/** A reservation as MongoDB holds it, among the payouts; it has neither status nor step, so nothing advances it. */
interface ReservationDocument
  extends Pick<Reservation, 'merchantId' | 'contentHash' | 'itemCount' | 'firstItem' | 'lastItem'> {
  readonly _id: string;
  readonly reference: string;
  readonly kind: 'batch';
  readonly acceptedAt: Date;
  readonly amount: bigint;
  readonly currency: string;
}

type StoredDocument = PayoutDocument | ReservationDocument;

/** The payouts of this service, and what batches reserve among them. */
export type PayoutStore = ReturnType<typeof openPayoutStore>;

/** Which batches are listed; `before` is our reference of one. */
export type BatchQuery = Omit<PaymentQuery, 'status' | 'batch'>;

/** A payout before and after. */
export type PayoutChange = PaymentChange<Payout>;

/** Opens the store. */
export function openPayoutStore(db: Db) {
  const collection = db.collection<PayoutDocument>('payouts');
  const reservations = db.collection<ReservationDocument>('payouts');
  const payments = openPaymentStore({
    collection,
    prefix: 'po',
    isOther: isReservation,
    toDocument,
    fromDocument,
    toUpdate,
  });
  return {
    ...payments,
    reserve: async (reservation: Reservation, session: ClientSession) => {
      await reservations.insertOne(toReservationDocument(reservation), { session });
    },
    /** The newest batches of a merchant first; undefined if that took too long because too few of many were asked for. */
    listBatches: async (query: BatchQuery): Promise<readonly Reservation[] | undefined> =>
      (await listNewest(reservations, 'ba', query))?.map(reservationFrom),
    /** A batch of the merchant by the merchant's reference, else by ours. */
    findBatch: async (merchantId: string, reference: string): Promise<Reservation | undefined> => {
      const _id = paymentId({ merchantId, merchantReference: reference });
      const kind = 'batch';
      const found =
        (await reservations.findOne({ _id, kind })) ??
        (await reservations.findOne({ reference, merchantId, kind }));
      return found ? reservationFrom(found) : undefined;
    },
    /** What each of the references is used for, by {@link paymentId}; unused ones are left out. */
    findUses: async (
      keys: readonly PayoutKey[],
      session?: ClientSession,
    ): Promise<ReadonlyMap<string, ReferenceUse>> => {
      const filter: Filter<StoredDocument> = { _id: { $in: keys.map(paymentId) }, ...NOT_REFUSED };
      const found = collection.find<StoredDocument>(filter, {
        ...(session && { session }),
      });
      return new Map((await found.toArray()).map((document) => [document._id, useIn(document)]));
    },
    /** The versions of these payouts, by our references; those without a record are left out. */
    findVersions: async (references: readonly string[]): Promise<ReadonlyMap<string, bigint>> => {
      const options = { projection: { reference: 1, version: 1 } } as const;
      const found = collection.find({ reference: { $in: references } }, options);
      return new Map((await found.toArray()).map(({ reference, version }) => [reference, version]));
    },
    /** When the newest payout was accepted of those that merchants sent to this database; undefined if there is none. */
    newestAcceptedMs: async () => {
      // Our references sort by time and are indexed.
      const sent = { reference: /^po-/, 'order.sender': { $ne: null } };
      const newest = { sort: { reference: -1 }, projection: { acceptedAt: 1 } } as const;
      return (await collection.findOne(sent, newest))?.acceptedAt.getTime();
    },
    /** Which of the references are used, as {@link paymentId}; cheap for many. */
    findUsedIds: async (
      keys: readonly PayoutKey[],
      session?: ClientSession,
    ): Promise<ReadonlySet<string>> => {
      const filter = { _id: { $in: keys.map(paymentId) }, ...NOT_REFUSED };
      const options = { projection: { _id: 1 }, ...(session && { session }) };
      return new Set((await collection.find(filter, options).toArray()).map(({ _id }) => _id));
    },
  };
}

function toReservationDocument(reservation: Reservation): ReservationDocument {
  const { merchantId, batchReference, contentHash, acceptedAtMs, total } = reservation;
  const { itemCount, firstItem, lastItem } = reservation;
  return {
    _id: paymentId(reservation),
    reference: batchReference,
    merchantId,
    kind: 'batch',
    contentHash,
    acceptedAt: new Date(acceptedAtMs),
    amount: total.minor,
    currency: total.currency,
    itemCount,
    firstItem,
    lastItem,
  };
}

function reservationFrom(document: ReservationDocument): Reservation {
  const { _id, merchantId, contentHash, firstItem, lastItem } = document;
  return {
    merchantId,
    merchantReference: _id.slice(paymentId({ merchantId, merchantReference: '' }).length),
    batchReference: document.reference,
    contentHash,
    acceptedAtMs: document.acceptedAt.getTime(),
    total: { minor: document.amount, currency: document.currency },
    itemCount: Number(document.itemCount),
    firstItem,
    lastItem,
  };
}

/** Whether a reference is that of a batch, and so of no payout. */
function isReservation(document: StoredDocument): document is ReservationDocument {
  return 'kind' in document;
}

function useIn(document: StoredDocument): ReferenceUse {
  if (isReservation(document)) return { kind: 'batch', contentHash: document.contentHash };
  return { kind: 'payout', payout: fromDocument(document) };
}

/** The reasons of ended payouts after the rail's own words, which may name people, are erased. */
export const plainReasons = { COMPLETED: 'Successful', FAILED: 'Failed', REVERSED: 'Reversed' } as const;

function toUpdate(after: Payout) {
  const { erased, status } = after;
  // The eraser has passed it, and does not come back for what a late reversal says.
  const statusReason = erased && status !== 'INITIALIZED' ? plainReasons[status] : after.statusReason;
  return paymentUpdate(after, { ...mutable(after), ...(statusReason !== null && { statusReason }) });
}

function mutable({ decided, causedBy, acknowledgedByRail, cancelRequestedBy, completion }: Payout) {
  return {
    ...(completion && { completion }),
    ...(acknowledgedByRail && { acknowledgedByRail }),
    ...(causedBy !== null && { causedBy }),
    ...(decided !== null && { decided: decidedToDocument(decided) }),
    ...(cancelRequestedBy !== null && { cancelRequestedBy }),
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
    ...(document.completion && { completion: document.completion }),
    ...(document.erased && { erased: document.erased }),
    acknowledgedByRail: document.acknowledgedByRail ?? false,
    statusReason: document.statusReason ?? null,
    recipientKnown: document.order.sender !== null,
    decided: document.decided ? decidedFromDocument(document.decided) : null,
    cancelRequestedBy: document.cancelRequestedBy ?? null,
  };
}

function orderFrom({ order, ...rest }: PayoutDocument): Payout['order'] {
  const amount = { minor: rest.amount, currency: rest.currency };
  return order.sender === null
    ? { ...order, transactionType: undefined, amount }
    : { ...order, transactionType: order.transactionType, amount };
}
