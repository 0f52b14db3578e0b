import { firstIdAt, type IdPrefix } from '@pesewa/kernel';
import { type Collection, type Filter, MongoServerError } from 'mongodb';

/** A batch whose items are listed: our references of them lie between these two, with others. */
export interface ListedBatch {
  readonly batchReference: string;
  readonly firstItem: string;
  readonly lastItem: string;
}

/** Which payments are listed; `before` is one of our references. */
export interface PaymentQuery {
  readonly merchantId?: string | undefined;
  /** Their `_id`s, of which each is looked up. */
  readonly ids?: readonly string[] | undefined;
  readonly rail?: string | undefined;
  readonly operatorCode?: string | undefined;
  readonly status?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly before?: string | undefined;
  readonly batch?: ListedBatch | undefined;
  readonly limit: number;
}

/** The status of payments that have not ended, by how our references of them begin. */
export const unendedStatus = { po: 'INITIALIZED', co: 'PENDING' } as const;

/** How long the database may read for a page of a list. */
export const LIST_TIMEOUT_MS = 5_000;
const MAX_TIME_EXPIRED = 50;
/** How far a payment's reference and its time, which are made one after the other, can be apart. */
const APART_MS_MAX = 10_000;

/** Lists documents by our references, which begin with the prefix, the newest first; undefined if that took too long. */
export async function listNewest<Document extends object>(
  collection: Collection<Document>,
  prefix: IdPrefix,
  query: PaymentQuery,
) {
  const { merchantId, ids, rail, operatorCode, status, fromMs, toMs, before, batch, limit } = query;
  // Our references sort by when they were made, so their index is that of a time.
  const first = firstIdAt(prefix, (fromMs ?? 0) - APART_MS_MAX);
  // A dot sorts behind the hyphen of all of them.
  const last = `${prefix}.`;
  const end = toMs === undefined ? last : firstIdAt(prefix, toMs + APART_MS_MAX);
  const isOfTheTime = {
    ...(fromMs !== undefined && { $gte: new Date(fromMs) }),
    ...(toMs !== undefined && { $lt: new Date(toMs) }),
  };
  const filter = {
    $and: [
      { reference: { $gte: first, $lt: [end, before ?? last].toSorted()[0] } },
      ...(batch ? [{ reference: { $gte: batch.firstItem, $lte: batch.lastItem } }] : []),
    ],
    ...(batch && { batchReference: batch.batchReference }),
    // A merchant with few payments among many is found by the range of its `_id`, one with many by the references:
    // the database tries both and goes on with the quicker, so no further index is needed.
    ...(merchantId !== undefined && { merchantId, _id: { $gt: `${merchantId}:`, $lt: `${merchantId};` } }),
    ...(ids && { _id: { $in: [...ids] } }),
    ...(rail !== undefined && { rail }),
    ...(operatorCode !== undefined && { 'order.operatorCode': operatorCode }),
    ...(status !== undefined && { status }),
    ...((fromMs !== undefined || toMs !== undefined) && { acceptedAt: isOfTheTime }),
  };
  const found = collection.find(filter as unknown as Filter<Document>, {
    maxTimeMS: LIST_TIMEOUT_MS,
    ...(ids && { hint: '_id_' }),
  });
  return unlessTooSlow(() => found.sort({ reference: -1 }).limit(limit).toArray());
}

/** What was read; undefined if the database gave up by its time limit. */
export async function unlessTooSlow<Found>(read: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof MongoServerError && error.code === MAX_TIME_EXPIRED) return undefined;
    throw error;
  }
}
