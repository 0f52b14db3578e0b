import type { AnyBulkWriteOperation, ClientSession, Db } from 'mongodb';
import type { Callback } from './domain/callback.ts';
import type { CallbackRecord, CallbackState } from './domain/reception.ts';
import { openRejections, type Rejections } from './rejections.ts';
import { type RequestDocument, toRequest } from './request-document.ts';

/** What changes in a callback's document over time. */
interface RecordFields {
  readonly state: CallbackState;
  /** The claim's fields are null while the callback could not be read. */
  readonly reference: string | null;
  readonly claimedStatus: string | null;
  readonly claimedAmount: string | null;
  readonly claimedFee: string | null;
  readonly claimedReason: string | null;
  readonly failure: string | null;
  readonly passedOnAt: Date | null;
  readonly timesPassedOn: number;
  readonly deliveries: number;
  readonly lastReceivedAt: Date;
  readonly conflicts: number;
  readonly otherDigests: readonly string[];
}

/** A callback as MongoDB holds it; `_id` is what makes it the same as another, so it is stored once. */
export interface CallbackDocument extends RequestDocument, RecordFields {
  readonly _id: string;
  /** Sorts by time of arrival. */
  readonly id: string;
}

/** A callback as operators see it: no body, no headers, no addresses. */
export type CallbackSummary = Omit<
  CallbackDocument,
  '_id' | 'body' | 'headers' | 'peerAddress' | 'clientAddress' | 'claimedReason'
>;

/** A stored callback, to be driven again. */
export type StoredCallback = Pick<Callback, 'rail' | 'kind' | 'digest' | 'body' | 'verdict'> & {
  readonly key: string;
};

/** Which callbacks a list is of, a part of it: by reference, by state, or both, after the one with the id `after`. */
export interface CallbackQuery {
  readonly reference?: string | undefined;
  readonly state?: CallbackState | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** The raw callbacks of this service's database. */
export interface CallbackStore {
  /** What is remembered under these keys. */
  readonly load: (
    keys: readonly string[],
    session: ClientSession,
  ) => Promise<ReadonlyMap<string, CallbackRecord>>;
  /** Stores fresh callbacks, and all records, by their keys; a key that was taken meanwhile breaks the transaction. */
  readonly save: (
    changes: {
      readonly fresh: ReadonlyMap<string, Callback>;
      readonly records: ReadonlyMap<string, CallbackRecord>;
    },
    session: ClientSession,
  ) => Promise<void>;
  readonly find: (id: string) => Promise<StoredCallback | undefined>;
  readonly insertRejected: Rejections['insert'];
  /** Oldest first. */
  readonly list: (query: CallbackQuery) => Promise<readonly CallbackSummary[]>;
  readonly listRejected: Rejections['list'];
}

const recordFields = {
  digest: 1,
  state: 1,
  reference: 1,
  claimedStatus: 1,
  claimedAmount: 1,
  claimedFee: 1,
  claimedReason: 1,
  failure: 1,
  passedOnAt: 1,
  timesPassedOn: 1,
  deliveries: 1,
  lastReceivedAt: 1,
  conflicts: 1,
  otherDigests: 1,
} as const;

/** Opens the store and makes sure of its indexes and of the bound on what was rejected. */
export async function openCallbackStore(db: Db): Promise<CallbackStore> {
  const callbacks = db.collection<CallbackDocument>('callbacks');
  await callbacks.createIndexes([
    { key: { reference: 1, id: 1 } },
    { key: { id: 1 }, unique: true },
    { key: { state: 1, id: 1 }, partialFilterExpression: { state: 'failed' } },
  ]);
  const rejections = await openRejections(db);
  return {
    load: async (keys, session) => {
      const found = await callbacks
        .find({ _id: { $in: [...keys] } }, { session })
        .project<Pick<CallbackDocument, '_id' | keyof typeof recordFields>>(recordFields)
        .toArray();
      return new Map(found.map((document) => [document._id, toRecord(document)]));
    },
    save: async ({ fresh, records }, session) => {
      const writes = [...records].map(([_id, record]): AnyBulkWriteOperation<CallbackDocument> => {
        const callback = fresh.get(_id);
        if (callback === undefined)
          return { updateOne: { filter: { _id }, update: { $set: toFields(record) } } };
        const document = { _id, id: callback.id, ...toRequest(callback), ...toFields(record) };
        return { insertOne: { document } };
      });
      await callbacks.bulkWrite(writes, { session });
    },
    find: async (id) => {
      const document = await callbacks.findOne({ id });
      if (document === null) return undefined;
      const { _id: key, rail, kind, digest, verdict, body } = document;
      return { key, rail, kind, digest, verdict, body: body.buffer };
    },
    insertRejected: rejections.insert,
    list: ({ reference, state, after, limit }) =>
      callbacks
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
        .toArray(),
    listRejected: rejections.list,
  };
}

function toFields(record: CallbackRecord): RecordFields {
  const { claim, passedOnAtMs } = record;
  return {
    state: record.state,
    reference: claim?.reference ?? null,
    claimedStatus: claim?.status ?? null,
    claimedAmount: claim?.amount ?? null,
    claimedFee: claim?.fee ?? null,
    claimedReason: claim?.reason ?? null,
    failure: record.failure,
    passedOnAt: passedOnAtMs === null ? null : new Date(passedOnAtMs),
    timesPassedOn: record.timesPassedOn,
    deliveries: record.deliveries,
    lastReceivedAt: new Date(record.lastReceivedAtMs),
    conflicts: record.conflicts,
    otherDigests: record.otherDigests,
  };
}

function toRecord(fields: RecordFields & Pick<RequestDocument, 'digest'>): CallbackRecord {
  const { reference, claimedStatus: status, claimedAmount: amount, claimedFee: fee } = fields;
  const isRead = reference !== null && status !== null;
  return {
    digest: fields.digest,
    state: fields.state,
    claim: isRead ? { reference, status, amount, fee, reason: fields.claimedReason } : null,
    failure: fields.failure,
    passedOnAtMs: fields.passedOnAt?.getTime() ?? null,
    timesPassedOn: fields.timesPassedOn,
    deliveries: fields.deliveries,
    lastReceivedAtMs: fields.lastReceivedAt.getTime(),
    conflicts: fields.conflicts,
    otherDigests: fields.otherDigests,
  };
}
