import { type Collection, type Db, MongoServerError } from 'mongodb';
import type { JudgedRequest, RejectionReason } from './domain/callback.ts';
import { type RequestDocument, toRequest } from './request-document.ts';

/** A request that was refused, kept for a while as evidence; `_id` sorts by time of arrival. */
interface RejectedDocument extends RequestDocument {
  readonly _id: string;
  readonly reason: RejectionReason;
}

/** A rejected request as operators see it; the address is what a list of addresses is mended by. */
export type RejectedSummary = Omit<RejectedDocument, '_id' | 'body' | 'headers' | 'peerAddress'> & {
  readonly id: string;
};

/** What was refused: the newest, so many. */
export interface Rejections {
  /** Resolves once it is stored for good; rejects where too many are waiting to be. */
  readonly insert: (request: JudgedRequest, reason: RejectionReason) => Promise<void>;
  /** Oldest first, after the one with the id `after`. */
  readonly list: (page: {
    readonly after?: string | undefined;
    readonly limit: number;
  }) => Promise<readonly RejectedSummary[]>;
}

const BYTES_MAX = 32 * 1024 * 1024;
const COUNT_MAX = 10_000;
const NAMESPACE_EXISTS = 48;
const BATCH_MAX = 100;
const WAITING_MAX = 256;

/** Opens {@link Rejections} and makes sure of their bounds. */
export async function openRejections(db: Db): Promise<Rejections> {
  const rejected = await openCapped(db);
  const insert = createBatches<RejectedDocument>(
    async (documents) => void (await rejected.insertMany([...documents], { ordered: false })),
  );
  return {
    insert: (request, reason) => insert({ _id: request.id, ...toRequest(request), reason }),
    list: async ({ after, limit }) => {
      const found = await rejected
        .find(after === undefined ? {} : { _id: { $gt: after } })
        .project<Omit<RejectedDocument, 'body' | 'headers' | 'peerAddress'>>({
          body: 0,
          headers: 0,
          peerAddress: 0,
        })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id: id, ...document }) => ({ id, ...document }));
    },
  };
}

/** Whoever knows the address can send garbage, so what is rejected is bounded: the oldest makes room. */
async function openCapped(db: Db): Promise<Collection<RejectedDocument>> {
  const name = 'rejected_callbacks';
  try {
    return await db.createCollection<RejectedDocument>(name, {
      capped: true,
      size: BYTES_MAX,
      max: COUNT_MAX,
    });
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NAMESPACE_EXISTS) return db.collection(name);
    throw error;
  }
}

/**
 * Writes items in batches, one at a time, so that a flood of garbage takes one connection from those who bring callbacks;
 * where too many are waiting, the next is turned away.
 */
function createBatches<Item>(
  write: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
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
  return (item) => {
    if (waiting.length >= WAITING_MAX) return Promise.reject(new Error('too much is rejected at once'));
    const done = Promise.withResolvers<void>();
    waiting.push({ item, done });
    void writeAll();
    return done.promise;
  };
}
