import { type IdPrefix, type Money } from '@pesewa/kernel';
import { type Claimable, createWriter } from '@pesewa/messaging';
import { type ClientSession, type Collection, type Filter, type IndexDescription } from 'mongodb';
import {
  listNewest,
  MERCHANT_KEY,
  type PaymentQuery,
  RARE_STATUS_KEY,
  rareStatuses,
} from './payment-list.ts';
import { openPaymentLookup } from './payment-lookup.ts';
import {
  NOT_REFUSED,
  openRefusedReferences,
  type RefusedReferences,
  refusedIndex,
} from './refused-references.ts';
import {
  type TimelineStep,
  type TimelineStepDocument,
  timelineFromDocument,
  timelineToDocument,
} from './timeline.ts';

/** What payouts and collections have alike; amounts in minor units of the order's currency. */
export interface Payment {
  /** The payment's reference, made by us. */
  readonly reference: string;
  readonly merchantId: string;
  readonly order: { readonly merchantReference: string; readonly amount: Money };
  readonly rail: string;
  readonly fee: bigint;
  readonly railFee: bigint;
  readonly status: string;
  readonly step: string;
  readonly version: bigint;
  readonly attempts: number;
  readonly earlierUnclear: boolean;
  readonly acceptedAtMs: number;
  readonly attemptedAtMs: number | null;
  readonly dueAtMs: number | null;
  readonly traceparent: string;
  readonly timeline: readonly TimelineStep[];
}

type Changing = 'status' | 'step' | 'version' | 'attempts' | 'earlierUnclear' | 'railFee';
/** The fields that are stored as they are. */
type Same = Changing | 'reference' | 'merchantId' | 'rail' | 'fee' | 'traceparent';

/** A payment as MongoDB holds it; `_id` is the merchant and its reference, so that each is accepted only once. */
export type PaymentDocument<One extends Payment = Payment> = Claimable &
  Pick<One, Same> & {
    readonly amount: bigint;
    readonly currency: string;
    readonly acceptedAt: Date;
    readonly attemptedAt?: Date;
    /** Absent in payments from before steps were recorded. */
    readonly timeline?: readonly TimelineStepDocument[];
  };

/** What every payment has, as it is stored; a new one has no `dueAt`. */
export function toPaymentDocument<One extends Payment>(payment: One): PaymentDocument<One> {
  const { order, acceptedAtMs, attemptedAtMs } = payment;
  return {
    _id: idOf(payment),
    ...same<One>(payment),
    amount: order.amount.minor,
    currency: order.amount.currency,
    acceptedAt: new Date(acceptedAtMs),
    ...(attemptedAtMs !== null && { attemptedAt: new Date(attemptedAtMs) }),
    timeline: timelineToDocument(payment.timeline),
  };
}

/** What every payment has, as it was stored, except its order. */
export function fromPaymentDocument<One extends Payment>(document: PaymentDocument<One>) {
  return {
    ...same<Pick<One, Same>>(document),
    acceptedAtMs: document.acceptedAt.getTime(),
    attemptedAtMs: document.attemptedAt?.getTime() ?? null,
    dueAtMs: document.dueAt?.getTime() ?? null,
    timeline: timelineFromDocument(document.timeline),
  };
}

/** The update of what changes of every payment, and of further fields; those in `gone` are removed. */
export function paymentUpdate(after: Payment, further: object, gone: Readonly<Record<string, true>> = {}) {
  const isDue = after.dueAtMs !== null;
  const removed = { ...(!isDue && { dueAt: true, claim: true }), ...gone };
  return {
    $set: {
      ...changing(after),
      timeline: timelineToDocument(after.timeline),
      ...(isDue && { dueAt: new Date(after.dueAtMs) }),
      ...further,
    },
    ...(Object.keys(removed).length > 0 && { $unset: removed }),
  };
}

function same<From extends Pick<Payment, Same>>(from: From): Pick<From, Same> {
  const { reference, merchantId, rail, fee, traceparent } = from;
  return { reference, merchantId, rail, fee, traceparent, ...changing(from) };
}

function changing<From extends Pick<Payment, Changing>>(from: From): Pick<From, Changing> {
  const { status, step, version, attempts, earlierUnclear, railFee } = from;
  return { status, step, version, attempts, earlierUnclear, railFee };
}

/** What makes a payment unique to its merchant. */
export interface PaymentKey {
  readonly merchantId: string;
  readonly merchantReference: string;
}

/** A payment before and after. */
export interface PaymentChange<One> {
  readonly before: One;
  readonly after: One;
  /** The token of the claim, if the same write claims the payment for an attempt. */
  readonly claim?: string;
}

/** The payments of one gateway. */
export interface PaymentStore<One, Document extends PaymentDocument> {
  readonly collection: Collection<Document>;
  readonly refused: RefusedReferences;
  readonly insert: (payments: readonly One[], session: ClientSession) => Promise<void>;
  /**
   * Finds a payment of the merchant by the merchant's reference, else by ours (contract 10.3). That there is none is only
   * said where it is certain: once accepted, a payment is never said not to be there.
   */
  readonly find: (merchantId: string, reference: string) => Promise<One | undefined>;
  /** The payments that have these references of their merchants, by {@link paymentId}; absent where one is free. */
  readonly findByMerchantReferences: (
    keys: readonly PaymentKey[],
    session?: ClientSession,
  ) => Promise<ReadonlyMap<string, One>>;
  readonly findByReferences: (
    references: readonly string[],
    session?: ClientSession,
  ) => Promise<readonly One[]>;
  /** The newest payments first; undefined if that took too long because too few of many were asked for. */
  readonly list: (query: PaymentQuery) => Promise<readonly One[] | undefined>;
  /** Saves changed states, each against the version that was read or known; a conflict aborts the transaction. */
  readonly save: (changes: readonly PaymentChange<One>[], session: ClientSession) => Promise<void>;
}

/** The `_id` of a payment. */
export function paymentId({ merchantId, merchantReference }: PaymentKey): string {
  return `${merchantId}:${merchantReference}`;
}

function idOf({ merchantId, order }: Payment): string {
  return paymentId({ merchantId, merchantReference: order.merchantReference });
}

/** A payment that is being sent to its rail, as {@link attemptUpdate} leaves it; its time is by the caller's clock. */
export function withAttempt<One extends Payment>(
  payment: One,
  step: One['step'],
  attemptedAtMs: number,
): One {
  const { attempts, version } = payment;
  return { ...payment, step, attempts: attempts + 1, version: version + 1n, attemptedAtMs };
}

/** The update by which a claim marks a payment as being sent to its rail: the attempt is committed before the call. */
export function attemptUpdate(step: string) {
  return {
    step,
    attempts: { $add: ['$attempts', 1] },
    version: { $add: ['$version', 1n] },
    attemptedAt: '$$NOW',
  };
}

/**
 * The indexes of a gateway's payments: for events and lookups by our reference, and erasing in its order; for lists of a
 * merchant's, and of those that failed; for claims of
 * the step `due` by `dueAt`, within equal values of the fields `claimedWithin` if any are given; for the audit of what
 * has not ended; and for deleting the marks of refused requests. Our reference is unique by construction, so no index
 * enforces it: `_id` is the only unique key, by which the collection can be sharded.
 */
export function paymentIndexes(options: {
  readonly due: string;
  /** The status of payments that have not ended; these are found, oldest first, from the index alone (ADR 27). */
  readonly unended: string;
  readonly claimedWithin?: readonly string[];
}): readonly IndexDescription[] {
  const claimKey = [...(options.claimedWithin ?? []), 'dueAt'].map((field) => [field, 1] as const);
  return [
    { key: { reference: 1 } },
    { key: MERCHANT_KEY },
    { key: RARE_STATUS_KEY, partialFilterExpression: { status: { $in: rareStatuses } } },
    { key: Object.fromEntries(claimKey), partialFilterExpression: { step: options.due } },
    {
      key: { status: 1, acceptedAt: 1, reference: 1 },
      partialFilterExpression: { status: options.unended },
    },
    refusedIndex,
  ];
}

/** Opens the store of a gateway's payments. */
export function openPaymentStore<One extends Payment, Document extends PaymentDocument>(options: {
  readonly collection: Collection<Document>;
  /** How our references of these payments begin. */
  readonly prefix: IdPrefix;
  /** Whether a document is another use of a reference than a payment. */
  readonly isOther?: (document: Document) => boolean;
  readonly toDocument: (payment: One) => Document;
  readonly fromDocument: (document: Document) => One;
  /** The update that turns the stored payment into this one; fields that never change may be left out. */
  readonly toUpdate: (after: One) => ReturnType<typeof paymentUpdate>;
}): PaymentStore<One, Document> {
  const { collection, fromDocument, prefix, isOther = () => false } = options;
  const writer = createWriter(collection.db, collection.collectionName);
  const findAll = async (filter: object, session?: ClientSession) => {
    const found = await collection.find(filter as Filter<Document>, session ? { session } : {}).toArray();
    return found.map((document) => fromDocument(document as Document));
  };
  const lookUp = openPaymentLookup(collection, prefix);
  const findByMerchantReferences = async (keys: readonly PaymentKey[], session?: ClientSession) => {
    const filter = { _id: { $in: keys.map(paymentId) }, ...NOT_REFUSED } as unknown as Filter<Document>;
    const found = collection.find<Document>(filter, session ? { session } : {});
    return new Map((await found.toArray()).map((document) => [document._id, fromDocument(document)]));
  };
  const toWrite = ({ before, after, claim }: PaymentChange<One>) => {
    const u = options.toUpdate(after);
    return {
      q: { _id: idOf(before), version: before.version },
      // Attempts are timed by the database's clock alone (ADR 5).
      u: claim ? { ...u, $set: { ...u.$set, claim }, $currentDate: { attemptedAt: true } } : u,
    };
  };
  return {
    collection,
    refused: openRefusedReferences(collection),
    insert: (payments, session) => writer.insert(payments.map(options.toDocument), session),
    find: async (merchantId, reference) => {
      const id = paymentId({ merchantId, merchantReference: reference });
      const found = await lookUp({ id, merchantId, reference });
      return found && !isOther(found) ? fromDocument(found) : undefined;
    },
    findByMerchantReferences,
    findByReferences: (references, session) => findAll({ reference: { $in: [...references] } }, session),
    list: async (query) => {
      const documents = await listNewest(collection, prefix, query);
      return documents?.map((document) => fromDocument(document as Document));
    },
    save: (changes, session) => writer.update(changes.map(toWrite), session),
  };
}
