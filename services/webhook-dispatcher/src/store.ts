import type { deliveryOperations } from '@pesewa/contracts';
import type { ServedRequest } from '@pesewa/runtime';
import type { AnyBulkWriteOperation, ClientSession, Collection, Db } from 'mongodb';
import { DUE_KEY } from './database-schema.ts';
import type { AttemptDocument, DeliveryDocument } from './documents.ts';
import type { AttemptError, DeliveryState } from './domain/delivery.ts';
import { countEndpoints, type Endpoint, type EndpointCounts, readEndpoints } from './endpoints.ts';

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
> & { readonly bornAtMs: number };

/** A claimed delivery's new state. */
export interface DeliveryChange {
  readonly delivery: DeliveryDocument;
  readonly state: DeliveryState;
  /** When it is due again; absent once it has ended. */
  readonly dueAtMs?: number;
  /** When it happened. */
  readonly atMs: number;
  readonly reason?: string;
  /** Absent if nothing was sent. */
  readonly attempt?: {
    readonly atMs: number;
    readonly durationMs: number;
    readonly status?: number;
    readonly error?: AttemptError;
  };
}

/** Which deliveries are listed, and from where on. */
export type DeliveryQuery = ServedRequest<typeof deliveryOperations.list>['query'] & {
  readonly limit: number;
};

/** The deliveries of this service's database. */
export interface DeliveryStore {
  readonly collection: Collection<DeliveryDocument>;
  /** Inserts the deliveries that don't exist yet; gives how many were new. */
  readonly insert: (deliveries: readonly NewDelivery[], session: ClientSession) => Promise<number>;
  /** The deliveries that still have the claim they were taken with. */
  readonly findClaimed: (
    claims: readonly { readonly id: string; readonly claim: string }[],
    session: ClientSession,
  ) => Promise<readonly DeliveryDocument[]>;
  readonly save: (changes: readonly DeliveryChange[], session: ClientSession) => Promise<void>;
  /** Puts a claimed delivery back without an attempt. */
  readonly giveBack: (id: string, claim: string, dueAtMs: number) => Promise<void>;
  /** Makes a delivery due from the start of its schedule; false if it does not exist. */
  readonly renew: (id: string, dueAtMs: number) => Promise<boolean>;
  readonly list: (query: DeliveryQuery) => Promise<readonly DeliveryDocument[]>;
  /** The destinations of unfinished deliveries. */
  readonly endpoints: (timeoutMs: number) => Promise<readonly Endpoint[]>;
  readonly countEndpoints: (timeoutMs: number) => Promise<EndpointCounts>;
  /** How many deliveries have not ended; {@link PENDING_MAX} means at least as many. */
  readonly countPending: (timeoutMs: number) => Promise<number>;
  /** When the delivery that is due first is due, or was; nothing where none is pending. */
  readonly firstDueAt: (timeoutMs: number) => Promise<Date | undefined>;
  /** How many deliveries were given up; counts to 10,000 at most. */
  readonly countExhausted: (timeoutMs: number) => Promise<number>;
  readonly listAttempts: (deliveryId: string, limit: number) => Promise<readonly AttemptDocument[]>;
}

/** The maximum count of pending deliveries, because the cost of a scrape must not grow with the backlog. */
export const PENDING_MAX = 50_000;
const EXHAUSTED_MAX = 10_000;
const DAY_MS = 86_400_000;

/** Opens the store; finished deliveries and attempts are deleted after so many days. */
export function openDeliveryStore(db: Db, keepDays: number): DeliveryStore {
  const forgetAfter = (atMs: number) => new Date(atMs + keepDays * DAY_MS);
  const deliveries = db.collection<DeliveryDocument>('deliveries');
  const attempts = db.collection<AttemptDocument>('attempts');
  return {
    collection: deliveries,
    insert: async (born, session) => {
      if (born.length === 0) return 0;
      const written = await deliveries.bulkWrite(born.map(toInsert), { session, ordered: false });
      return written.upsertedCount;
    },
    findClaimed: (claims, session) =>
      deliveries
        .find({ $or: claims.map(({ id, claim }) => ({ _id: id, claim })), state: 'pending' }, { session })
        .toArray(),
    save: async (changes, session) => {
      if (changes.length === 0) return;
      await deliveries.bulkWrite(
        changes.map((change) => toUpdate(change, forgetAfter)),
        { session, ordered: false },
      );
      const tried = changes.flatMap((change) => toAttempt(change, forgetAfter));
      if (tried.length > 0) await attempts.insertMany(tried, { session });
    },
    giveBack: async (id, claim, dueAtMs) => {
      await deliveries.updateOne(
        { _id: id, claim },
        { $set: { dueAt: new Date(dueAtMs) }, $unset: { claim: true } },
      );
    },
    renew: async (id, dueAtMs) => {
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
    list: ({ reference, state, after, limit }) =>
      deliveries
        .find({
          ...(reference !== undefined && { $or: [{ reference }, { merchantReference: reference }] }),
          ...(state !== undefined && { state }),
          ...(after !== undefined && { _id: { $gt: after } }),
        })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    endpoints: (timeoutMs) => readEndpoints(deliveries, timeoutMs),
    countEndpoints: (timeoutMs) => countEndpoints(deliveries, timeoutMs),
    countPending: (maxTimeMS) =>
      deliveries.countDocuments({ state: 'pending' }, { hint: DUE_KEY, limit: PENDING_MAX, maxTimeMS }),
    firstDueAt: async (maxTimeMS) => {
      const first = await deliveries.findOne(
        { state: 'pending' },
        { hint: DUE_KEY, projection: { _id: 0, dueAt: 1 }, sort: { dueAt: 1 }, maxTimeMS },
      );
      return first?.dueAt;
    },
    countExhausted: (maxTimeMS) =>
      deliveries.countDocuments({ state: 'exhausted' }, { limit: EXHAUSTED_MAX, maxTimeMS }),
    listAttempts: (deliveryId, limit) => attempts.find({ deliveryId }).sort({ at: 1 }).limit(limit).toArray(),
  };
}

function toInsert({ _id, bornAtMs, ...born }: NewDelivery): AnyBulkWriteOperation<DeliveryDocument> {
  const bornAt = new Date(bornAtMs);
  const $setOnInsert = {
    ...born,
    bornAt,
    dueAt: bornAt,
    state: 'pending' as const,
    attempts: 0,
    roundAttempts: 0,
  };
  return { updateOne: { filter: { _id }, update: { $setOnInsert }, upsert: true } };
}

type ForgetAfter = (atMs: number) => Date;

function toUpdate(
  { delivery, state, dueAtMs, reason, attempt, atMs }: DeliveryChange,
  forgetAfter: ForgetAfter,
): AnyBulkWriteOperation<DeliveryDocument> {
  const tried = attempt === undefined ? 0 : 1;
  return {
    updateOne: {
      filter: { _id: delivery._id },
      update: {
        $set: {
          state,
          attempts: delivery.attempts + tried,
          roundAttempts: delivery.roundAttempts + tried,
          ...(dueAtMs === undefined ? { forgetAt: forgetAfter(atMs) } : { dueAt: new Date(dueAtMs) }),
          ...(reason !== undefined && { reason }),
          ...(attempt?.status !== undefined && { lastStatus: attempt.status }),
          ...(attempt?.error !== undefined && { lastError: attempt.error }),
        },
        $unset: {
          claim: true,
          ...(dueAtMs === undefined && { dueAt: true }),
          ...(attempt !== undefined && attempt.status === undefined && { lastStatus: true }),
          ...(attempt !== undefined && attempt.error === undefined && { lastError: true }),
        },
      },
    },
  };
}

function toAttempt(
  { delivery, attempt }: DeliveryChange,
  forgetAfter: ForgetAfter,
): readonly AttemptDocument[] {
  if (attempt === undefined) return [];
  const { atMs, ...rest } = attempt;
  const number = delivery.attempts + 1;
  const forgetAt = forgetAfter(atMs);
  return [
    { _id: `${delivery._id}#${number}`, deliveryId: delivery._id, at: new Date(atMs), ...rest, forgetAt },
  ];
}
