import { Binary, type ClientSession, type Collection, type Db, MongoServerError } from 'mongodb';
import {
  type Callback,
  type CallbackHeader,
  type CallbackKind,
  type CallbackRequest,
  type CallbackVerdict,
  callbackKey,
} from './domain/callback.ts';

/** A callback as MongoDB holds it; `_id` is rail, kind and digest, so the same bytes are stored once. */
export interface CallbackDocument {
  readonly _id: string;
  /** Sorts by time of arrival. */
  readonly id: string;
  readonly rail: string;
  readonly kind: CallbackKind;
  readonly digest: string;
  /** The raw body, which may hold personal data: it leaves this database nowhere. */
  readonly body: Binary;
  readonly headers: readonly CallbackHeader[];
  readonly peerAddress?: string;
  readonly verdict: CallbackVerdict;
  readonly reference: string;
  readonly claimedStatus: string;
  readonly claimedAmount: string | null;
  readonly receivedAt: Date;
  readonly lastReceivedAt: Date;
  /** How often these bytes came. */
  readonly deliveries: number;
}

/** A callback as operators see it: no body, no headers. */
export type CallbackSummary = Omit<CallbackDocument, '_id' | 'body' | 'headers' | 'peerAddress'>;

/** A request whose body could not be read, kept for a while as evidence. */
export interface RejectedDocument {
  readonly rail: string;
  readonly kind: CallbackKind;
  readonly digest: string;
  readonly body: Binary;
  readonly headers: readonly CallbackHeader[];
  readonly peerAddress?: string;
  readonly receivedAt: Date;
}

/** The raw callbacks of this service's database. */
export interface CallbackStore {
  /** Stores callbacks, and counts those stored before; tells for each, in order, whether it is new. */
  readonly insert: (callbacks: readonly Callback[], session: ClientSession) => Promise<readonly boolean[]>;
  readonly insertRejected: (request: CallbackRequest) => Promise<void>;
  /** The callbacks of a payment, oldest first, after the callback with the id `after`. */
  readonly list: (reference: string, page: Page) => Promise<readonly CallbackSummary[]>;
}

/** A part of a list. */
export interface Page {
  readonly after: string | undefined;
  readonly limit: number;
}

const REJECTED_BYTES_MAX = 32 * 1024 * 1024;
const REJECTED_COUNT_MAX = 10_000;
const NAMESPACE_EXISTS = 48;

/** Opens the store and makes sure of its indexes and of the bound on what was rejected. */
export async function openCallbackStore(db: Db): Promise<CallbackStore> {
  const callbacks = db.collection<CallbackDocument>('callbacks');
  await callbacks.createIndexes([{ key: { reference: 1, id: 1 } }]);
  const rejected = await openRejected(db);
  return {
    insert: async (arrived, session) => {
      const written = await callbacks.bulkWrite(
        arrived.map((callback) => ({
          updateOne: {
            filter: { _id: callbackKey(callback) },
            update: {
              $setOnInsert: toDocument(callback),
              $set: { lastReceivedAt: new Date(callback.receivedAtMs) },
              $inc: { deliveries: 1 },
            },
            upsert: true,
          },
        })),
        { session },
      );
      return arrived.map((_, index) => index in written.upsertedIds);
    },
    insertRejected: async (request) => void (await rejected.insertOne(toRejected(request))),
    list: (reference, { after, limit }) =>
      callbacks
        .find({ reference, ...(after !== undefined && { id: { $gt: after } }) })
        .project<CallbackSummary>({ _id: 0, body: 0, headers: 0, peerAddress: 0 })
        .sort({ id: 1 })
        .limit(limit)
        .toArray(),
  };
}

/** Whoever knows the address can send garbage, so what is rejected is bounded: the oldest makes room. */
async function openRejected(db: Db): Promise<Collection<RejectedDocument>> {
  const name = 'rejected_callbacks';
  try {
    return await db.createCollection<RejectedDocument>(name, {
      capped: true,
      size: REJECTED_BYTES_MAX,
      max: REJECTED_COUNT_MAX,
    });
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NAMESPACE_EXISTS) return db.collection(name);
    throw error;
  }
}

function toRejected(request: CallbackRequest): RejectedDocument {
  return {
    rail: request.rail,
    kind: request.kind,
    digest: request.digest,
    body: new Binary(request.body),
    headers: request.headers,
    ...(request.peerAddress !== undefined && { peerAddress: request.peerAddress }),
    receivedAt: new Date(request.receivedAtMs),
  };
}

function toDocument(callback: Callback) {
  return {
    ...toRejected(callback),
    id: callback.id,
    verdict: callback.verdict,
    reference: callback.claim.reference,
    claimedStatus: callback.claim.status,
    claimedAmount: callback.claim.amount,
  };
}
