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

/** The index of a merchant's payments in the order of their acceptance; nothing in it changes (ADR 83). */
export const MERCHANT_KEY = { merchantId: 1, reference: 1 } as const;

/** The index of those whose status few have: each enters it once, as it ends. */
export const RARE_STATUS_KEY = { merchantId: 1, status: 1, reference: 1 } as const;

/** The statuses of {@link RARE_STATUS_KEY}. */
export const rareStatuses = ['FAILED', 'REVERSED'] as const;

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
    ...(merchantId !== undefined && { merchantId }),
    ...(ids && { _id: { $in: [...ids] } }),
    ...(rail !== undefined && { rail }),
    ...(operatorCode !== undefined && { 'order.operatorCode': operatorCode }),
    ...(status !== undefined && { status }),
    ...((fromMs !== undefined || toMs !== undefined) && { acceptedAt: isOfTheTime }),
  };
  const found = collection.find(filter as unknown as Filter<Document>, {
    maxTimeMS: LIST_TIMEOUT_MS,
    ...hintFor(query),
  });
  return unlessTooSlow(() => found.sort({ reference: -1 }).limit(limit).toArray());
}

/**
 * The index of a list, where what the database remembers of another list of the same shape could mislead it. Open payments
 * of a merchant are found among all that are open, or among the merchant's: whichever is quicker.
 */
function hintFor({ merchantId, ids, status }: PaymentQuery) {
  if (ids) return { hint: '_id_' };
  if (merchantId === undefined || status === unendedStatus.po || status === unendedStatus.co) return {};
  return { hint: rareStatuses.some((one) => one === status) ? RARE_STATUS_KEY : MERCHANT_KEY };
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
