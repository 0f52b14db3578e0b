import { DAY_MS } from '@pesewa/kernel';
import { createWriter } from '@pesewa/messaging';
import type { AnyBulkWriteOperation, ClientSession, Collection, Db } from 'mongodb';
import { DUE_KEY } from './database-schema.ts';
import { type DeferredDeliveries, openDeferred } from './deferred.ts';
import { type DeliveryQuery, listDeliveries } from './delivery-lists.ts';
import { ATTEMPTS_LOGGED_MAX, type Attempt, type DeliveryDocument } from './documents.ts';
import type { DeliveryState } from './domain/delivery.ts';
import { type Endpoint, type OwedEndpoint, readEndpoints, readOwed } from './endpoints.ts';

/** The fields of a new delivery. */
export type NewDelivery = Pick<
  DeliveryDocument,
  | '_id'
  | 'merchantId'
  | 'reference'
  | 'merchantReference'
  | 'kind'
  | 'body'
  | 'webhookUrl'
  | 'bulkhead'
  | 'causationId'
  | 'traceparent'
> & { readonly createdAtMs: number };

/** A claimed delivery's new state. */
export interface DeliveryChange {
  /** As it was claimed. */
  readonly delivery: DeliveryDocument;
  /** The claim it was taken with; if it was replaced meanwhile, nothing changes. */
  readonly claim: string;
  readonly state: DeliveryState;
  /** When it is due again; absent once it has ended. */
  readonly dueAtMs?: number;
  readonly reason?: string;
  /** Absent if nothing was sent. */
  readonly attempt?: Attempt;
  /** The digest of the merchant's own address that was tried; absent for an address of the delivery's own. */
  readonly address?: string;
}

/** The deliveries of this service's database. */
export interface DeliveryStore extends DeferredDeliveries {
  readonly collection: Collection<DeliveryDocument>;
  /** Which of these deliveries exist. */
  readonly findExisting: (ids: readonly string[], session: ClientSession) => Promise<readonly string[]>;
  /** Inserts deliveries; a duplicate key if one exists. */
  readonly insert: (deliveries: readonly DeliveryDocument[], session: ClientSession) => Promise<void>;
  /** Changes the deliveries that still have their claim; gives how many those are. */
  readonly save: (
    changes: readonly DeliveryChange[],
    atMs: number,
    session: ClientSession,
  ) => Promise<number>;
  /** Puts a claimed delivery back without an attempt. */
  readonly postpone: (id: string, claim: string, dueAtMs: number) => Promise<void>;
  /** Makes a delivery due from the start of its schedule; false if it does not exist. */
  readonly makeDueNow: (id: string, dueAtMs: number) => Promise<boolean>;
  readonly find: (id: string) => Promise<DeliveryDocument | null>;
  /** A page after the delivery `after`; undefined if that does not exist. */
  readonly list: (query: DeliveryQuery) => Promise<readonly DeliveryDocument[] | undefined>;
  /** The destinations of unfinished deliveries. */
  readonly endpoints: (timeoutMs: number) => Promise<readonly Endpoint[]>;
  /** The same from keys alone, with when the first delivery of each is due. */
  readonly owed: (timeoutMs: number) => Promise<readonly OwedEndpoint[]>;
  /** How many deliveries have not ended; {@link PENDING_MAX} means at least as many. */
  readonly countPending: (timeoutMs: number) => Promise<number>;
  /** How many deliveries were given up; counts to 10,000 at most. */
  readonly countExhausted: (timeoutMs: number) => Promise<number>;
  /** The newest attempts of a delivery, the oldest first. */
  readonly listAttempts: (id: string) => Promise<readonly Attempt[]>;
}

/** The maximum count of pending deliveries, because the cost of a scrape must not grow with the backlog. */
export const PENDING_MAX = 50_000;
const EXHAUSTED_MAX = 10_000;

/** Opens the store; finished deliveries are deleted after so many days, with their attempts. */
export function openDeliveryStore(db: Db, keepDays: number): DeliveryStore {
  const forgetAfter = (atMs: number) => new Date(atMs + keepDays * DAY_MS);
  const deliveries = db.collection<DeliveryDocument>('deliveries');
  const writer = createWriter(db, deliveries.collectionName);
  return {
    collection: deliveries,
    findExisting: async (ids, session) => {
      const options = { session, projection: { _id: 1 } };
      const found = await deliveries.find({ _id: { $in: [...ids] } }, options).toArray();
      return found.map(({ _id }) => _id);
    },
    insert: writer.insert,
    save: async (changes, atMs, session) => {
      const forgetAt = forgetAfter(atMs);
      const updates = changes.map((change) => toUpdate(change, forgetAt));
      const written = await deliveries.bulkWrite(updates, { session, ordered: false });
      return written.matchedCount;
    },
    postpone: async (id, claim, dueAtMs) => {
      await deliveries.updateOne(
        { _id: id, claim },
        { $set: { dueAt: new Date(dueAtMs) }, $unset: { claim: true } },
      );
    },
    makeDueNow: async (id, dueAtMs) => {
      const renewed = await deliveries.updateOne(
        { _id: id },
        {
          $set: { state: 'pending', dueAt: new Date(dueAtMs), roundAttempts: 0 },
          // A worker that is delivering it now loses its claim, and its result is dropped.
          $unset: { claim: true, reason: true, forgetAt: true },
        },
      );
      return renewed.matchedCount > 0;
    },
    ...openDeferred(deliveries),
    find: (_id) => deliveries.findOne({ _id }),
    list: (query) => listDeliveries(deliveries, query),
    endpoints: (timeoutMs) => readEndpoints(deliveries, timeoutMs),
    owed: (timeoutMs) => readOwed(deliveries, timeoutMs),
    countPending: (maxTimeMS) =>
      deliveries.countDocuments({ state: 'pending' }, { hint: DUE_KEY, limit: PENDING_MAX, maxTimeMS }),
    countExhausted: (maxTimeMS) =>
      deliveries.countDocuments({ state: 'exhausted' }, { limit: EXHAUSTED_MAX, maxTimeMS }),
    listAttempts: async (_id) => {
      const delivery = await deliveries.findOne({ _id }, { projection: { attemptLog: 1 } });
      return delivery?.attemptLog ?? [];
    },
  };
}

/** A new delivery: due at once, or claimed by the process that writes it. */
export function newDeliveryDocument(
  { createdAtMs, ...created }: NewDelivery,
  claim?: Required<Pick<DeliveryDocument, 'claim' | 'dueAt'>>,
): DeliveryDocument {
  const createdAt = new Date(createdAtMs);
  return {
    ...created,
    createdAt,
    dueAt: createdAt,
    ...claim,
    state: 'pending',
    attempts: 0,
    roundAttempts: 0,
  };
}

function toUpdate(
  { delivery, claim, state, dueAtMs, reason, attempt }: DeliveryChange,
  forgetAt: Date,
): AnyBulkWriteOperation<DeliveryDocument> {
  const tried = attempt === undefined ? 0 : 1;
  return {
    updateOne: {
      filter: { _id: delivery._id, claim, state: 'pending' },
      update: {
        $set: {
          state,
          attempts: delivery.attempts + tried,
          roundAttempts: delivery.roundAttempts + tried,
          ...(dueAtMs !== undefined && { dueAt: new Date(dueAtMs) }),
          ...(dueAtMs === undefined && state !== 'deferred' && { forgetAt }),
          ...(reason !== undefined && { reason }),
        },
        $unset: { claim: true, ...(dueAtMs === undefined && { dueAt: true }) },
        ...(attempt && { $push: { attemptLog: { $each: [attempt], $slice: -ATTEMPTS_LOGGED_MAX } } }),
      },
    },
  };
}
