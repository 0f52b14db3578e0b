import type { callbackOperations } from '@pesewa/contracts';
import { DAY_MS } from '@pesewa/kernel';
import { documentBytes } from '@pesewa/messaging';
import type { ServedRequest } from '@pesewa/runtime';
import type { AnyBulkWriteOperation, ClientSession, Collection, Db } from 'mongodb';
import { type CallbackDocument, recordFields, recordOf, requestFields } from './documents.ts';
import { type Callback, isAuthenticated } from './domain/callback.ts';
import type { CallbackRecord } from './domain/reception.ts';
import { openRejections, type Rejections } from './rejections.ts';

/** A callback as operators see it: without body, headers and addresses. */
export type CallbackSummary = Omit<
  CallbackDocument,
  '_id' | 'body' | 'headers' | 'peerAddress' | 'clientAddress' | 'claimedReason'
>;

/** A stored callback, to be processed again. */
export type StoredCallback = Pick<
  Callback,
  'rail' | 'kind' | 'digest' | 'body' | 'headers' | 'clientAddress' | 'receivedAtMs' | 'messageId'
>;

/** Which callbacks are listed, and from where on. */
export type CallbackQuery = ServedRequest<typeof callbackOperations.list>['query'] & {
  readonly limit: number;
};

/** The raw callbacks of this service's database. */
export interface CallbackStore {
  /** The records under these keys. */
  readonly load: (
    keys: readonly string[],
    session: ClientSession,
  ) => Promise<ReadonlyMap<string, CallbackRecord>>;
  /** Stores new callbacks and all records by their keys; a key that was taken meanwhile fails the transaction. */
  readonly save: (
    changes: {
      readonly fresh: ReadonlyMap<string, Callback>;
      readonly records: ReadonlyMap<string, CallbackRecord>;
    },
    session: ClientSession,
  ) => Promise<void>;
  /** Undefined once its body is erased. */
  readonly find: (id: string) => Promise<StoredCallback | undefined>;
  /** Oldest first. */
  readonly list: (query: CallbackQuery) => Promise<readonly CallbackSummary[]>;
  /** How many are `failed`, counted up to a limit. */
  readonly countFailed: () => Promise<number>;
  /** How many bytes all callbacks take. */
  readonly bytes: () => Promise<number>;
  /** About which share of these bytes neither a signature nor a listed address vouches for. */
  readonly unverifiedShare: () => Promise<number>;
  readonly insertRejected: Rejections['insert'];
  readonly listRejected: Rejections['list'];
}

/** How long callbacks are kept, in days. */
export interface Retention {
  readonly keepDays: number;
  /** For callbacks without a valid signature and outside any list of addresses. */
  readonly unverifiedKeepDays: number;
}

const COUNT_MAX = 10_000;
const COUNT_TIMEOUT_MS = 1_000;
/** So many are enough to know a share to a few hundredths. */
const SAMPLE_SIZE = 1_000;
const SAMPLE_TIMEOUT_MS = 10_000;

/** Opens the store. */
export function openCallbackStore(db: Db, retention: Retention): CallbackStore {
  const callbacks = db.collection<CallbackDocument>('callbacks');
  const rejections = openRejections(db);
  return {
    load: async (keys, session) => {
      const found = await callbacks
        .find({ _id: { $in: [...keys] } }, { session })
        .project<Omit<CallbackDocument, 'body' | 'headers'>>({ body: 0, headers: 0 })
        .toArray();
      return new Map(found.map((document) => [document._id, recordOf(document)]));
    },
    save: async ({ fresh, records }, session) => {
      const writes = [...records].map(([_id, record]): AnyBulkWriteOperation<CallbackDocument> => {
        const callback = fresh.get(_id);
        const fields = recordFields(record);
        if (callback === undefined) return { updateOne: { filter: { _id }, update: { $set: fields } } };
        const { id, messageId } = callback;
        const forgetAt = forgetAtOf(callback, retention);
        return {
          insertOne: { document: { _id, id, ...requestFields(callback), messageId, ...fields, forgetAt } },
        };
      });
      await callbacks.bulkWrite(writes, { session });
    },
    find: async (id) => {
      const document = await callbacks.findOne({ id, erased: { $exists: false } });
      return document === null ? undefined : storedCallback(document);
    },
    list: (query) => list(db, query),
    countFailed: () =>
      callbacks.countDocuments({ state: 'failed' }, { limit: COUNT_MAX, maxTimeMS: COUNT_TIMEOUT_MS }),
    bytes: () => documentBytes(callbacks),
    unverifiedShare: () => unverifiedShareOf(callbacks),
    insertRejected: rejections.insert,
    listRejected: rejections.list,
  };
}

function forgetAtOf({ verdict, receivedAtMs }: Callback, retention: Retention): Date {
  const days = isAuthenticated(verdict) ? retention.keepDays : retention.unverifiedKeepDays;
  return new Date(receivedAtMs + days * DAY_MS);
}

async function unverifiedShareOf(callbacks: Collection<CallbackDocument>): Promise<number> {
  const sample = await callbacks
    .aggregate<{ readonly verdict: Callback['verdict']; readonly bytes: number }>(
      [
        { $sample: { size: SAMPLE_SIZE } },
        { $project: { _id: 0, verdict: 1, bytes: { $bsonSize: '$$ROOT' } } },
      ],
      { maxTimeMS: SAMPLE_TIMEOUT_MS },
    )
    .toArray();
  const sum = (some: typeof sample) => some.reduce((total, { bytes }) => total + bytes, 0);
  const unverified = sample.filter(({ verdict }) => !isAuthenticated(verdict));
  return sum(unverified) / Math.max(1, sum(sample));
}

function storedCallback({ body, receivedAt, ...document }: CallbackDocument): StoredCallback {
  const { rail, kind, digest, headers, clientAddress, messageId } = document;
  const receivedAtMs = receivedAt.getTime();
  return { rail, kind, digest, headers, clientAddress, messageId, body: body.buffer, receivedAtMs };
}

function list(
  db: Db,
  { reference, state, after, limit }: CallbackQuery,
): Promise<readonly CallbackSummary[]> {
  return db
    .collection<CallbackDocument>('callbacks')
    .find({
      ...(reference !== undefined && { reference }),
      ...(state !== undefined && { state }),
      ...(after !== undefined && { id: { $gt: after } }),
    })
    .project<CallbackSummary>({
      _id: 0,
      body: 0,
      headers: 0,
      peerAddress: 0,
      clientAddress: 0,
      claimedReason: 0,
    })
    .sort({ id: 1 })
    .limit(limit)
    .toArray();
}
