import type { callbackOperations } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import type { ServedRequest } from '@pesewa/runtime';
import type { AnyBulkWriteOperation, Db } from 'mongodb';
import { type CallbackDocument, type RequestDocument, requestFields } from './documents.ts';
import { type CheckedRequest, evidenceOf, headerOf, type RejectionReason } from './domain/callback.ts';

/** A refused request, kept for a while as evidence; `_id` sorts by time of arrival. */
interface RejectedDocument extends RequestDocument {
  readonly _id: string;
  readonly reason: RejectionReason;
  /** The size of the whole body, although of a stranger's only the beginning is kept. */
  readonly bodyBytes: number;
}

/**
 * A rejected request as operators see it. The addresses help to correct a list of addresses or the number of proxies.
 */
export type RejectedSummary = Omit<RejectedDocument, '_id' | 'body' | 'headers'> & {
  readonly id: string;
  /** The header X-Forwarded-For as received; null if it was missing. */
  readonly forwardedFor: string | null;
};

/** Which rejected requests are listed, and from where on. */
export type RejectedQuery = ServedRequest<typeof callbackOperations.rejected>['query'] & {
  readonly limit: number;
};

/** The newest refused requests, up to a number. */
export interface Rejections {
  /** Resolves once it is durably stored; refuses if too many are waiting to be stored. */
  readonly insert: (
    request: CheckedRequest,
    reason: RejectionReason,
    /**
     * Keys under which the same bytes may be stored as failed: they turn out to be no callback, so they need no
     * reading any more.
     */
    keys: readonly string[],
  ) => Promise<Result<null, 'not_kept'>>;
  /** Newest first. */
  readonly list: (query: RejectedQuery) => Promise<readonly RejectedSummary[]>;
}

const BATCH_MAX = 100;
const WAITING_MAX = 256;

/** Opens {@link Rejections}. */
export function openRejections(db: Db): Rejections {
  const rejected = db.collection<RejectedDocument>('rejected_callbacks');
  const insert = createBatches<Rejection>(async (rejections) => {
    await rejected.insertMany(
      rejections.map(({ document }) => document),
      { ordered: false },
    );
    await dismissFailed(db, rejections);
  });
  return {
    insert: (request, reason, keys) => {
      const kept = requestFields(evidenceOf(request, reason));
      const document = { _id: request.id, ...kept, reason, bodyBytes: request.body.byteLength };
      return insert({ document, keys });
    },
    list: async ({ rail, reason, after, limit }) => {
      const found = await rejected
        .find({
          ...(rail !== undefined && { rail }),
          ...(reason !== undefined && { reason }),
          ...(after !== undefined && { _id: { $lt: after } }),
        })
        .project<Omit<RejectedDocument, 'body'>>({ body: 0 })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id: id, headers, ...document }) => ({
        id,
        ...document,
        forwardedFor: headerOf({ headers }, 'x-forwarded-for') ?? null,
      }));
    },
  };
}

interface Rejection {
  readonly document: RejectedDocument;
  readonly keys: readonly string[];
}

async function dismissFailed(db: Db, rejections: readonly Rejection[]): Promise<void> {
  const updates = rejections
    .filter(({ keys }) => keys.length > 0)
    .map(({ document: { digest, reason }, keys }): AnyBulkWriteOperation<CallbackDocument> => {
      const update = { $set: { state: 'dismissed' as const, failure: reason } };
      return { updateMany: { filter: { _id: { $in: [...keys] }, digest, state: 'failed' }, update } };
    });
  if (updates.length === 0) return;
  await db.collection<CallbackDocument>('callbacks').bulkWrite(updates, { ordered: false });
}

/**
 * Writes items in batches, one at a time, so that a flood of garbage takes only one connection from real callbacks; if
 * too many wait, the next is refused.
 */
function createBatches<Item>(
  write: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<Result<null, 'not_kept'>> {
  const waiting: { readonly item: Item; readonly done: PromiseWithResolvers<void> }[] = [];
  let isWriting = false;
  const writeAll = async () => {
    if (isWriting) return;
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_MAX);
      try {
        await write(batch.map(({ item }) => item));
        for (const { done } of batch) done.resolve();
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    isWriting = false;
  };
  return async (item) => {
    if (waiting.length >= WAITING_MAX) return refuse('not_kept');
    const done = Promise.withResolvers<void>();
    waiting.push({ item, done });
    void writeAll();
    await done.promise;
    return accept(null);
  };
}
