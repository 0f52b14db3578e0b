import { DAY_MS } from '@pesewa/kernel';
import type { ClientSession, Db } from 'mongodb';
import type { BatchTerms } from './domain/submission.ts';
import type { Reservation } from './store.ts';

/** An accepted batch: its header, and the sums over its items. */
export interface Batch extends Reservation {
  readonly terms: BatchTerms;
  readonly items: number;
  /** Minor units of its currency. */
  readonly fees: bigint;
  readonly acceptedAtMs: number;
}

/** The accepted batches, for people to look at; nothing in the lives of their items depends on them (invariant P7). */
export type BatchStore = ReturnType<typeof openBatchStore>;

/** Opens the store, which keeps a batch for so many days. */
export function openBatchStore(db: Db, keepDays: number) {
  const collection = db.collection<ReturnType<typeof toDocument>>('batches');
  return {
    insert: async (batch: Batch, session: ClientSession): Promise<void> => {
      await collection.insertOne(toDocument(batch, keepDays), { session });
    },
  };
}

/** A batch as MongoDB holds it; `_id` is our reference, which its payouts have too. */
function toDocument({ terms, batchReference: _id, acceptedAtMs, ...batch }: Batch, keepDays: number) {
  const { country, channel, transactionType, total } = terms;
  return {
    _id,
    ...batch,
    country,
    channel,
    ...(transactionType !== undefined && { transactionType }),
    currency: total.currency,
    total: total.minor,
    acceptedAt: new Date(acceptedAtMs),
    forgetAt: new Date(acceptedAtMs + keepDays * DAY_MS),
  };
}
