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

/** A batch as MongoDB holds it; `_id` is our reference, which its payouts have too. */
interface BatchDocument {
  readonly _id: string;
  readonly merchantId: string;
  readonly merchantReference: string;
  readonly contentHash: string;
  readonly country: string;
  readonly channel: string;
  readonly transactionType?: string;
  readonly currency: string;
  readonly total: bigint;
  readonly fees: bigint;
  readonly items: number;
  readonly acceptedAt: Date;
  readonly forgetAt: Date;
}

/** The accepted batches, for people to look at; nothing in the lives of their items depends on them (invariant P7). */
export interface BatchStore {
  readonly insert: (batch: Batch, session: ClientSession) => Promise<void>;
}

const DAY_MS = 86_400_000;

/** Opens the store, which keeps a batch for so many days. */
export function openBatchStore(db: Db, keepDays: number): BatchStore {
  const collection = db.collection<BatchDocument>('batches');
  return {
    insert: async ({ terms, ...batch }, session) => {
      await collection.insertOne(
        {
          _id: batch.batchReference,
          merchantId: batch.merchantId,
          merchantReference: batch.merchantReference,
          contentHash: batch.contentHash,
          country: terms.country,
          channel: terms.channel,
          ...(terms.transactionType !== undefined && { transactionType: terms.transactionType }),
          currency: terms.total.currency,
          total: terms.total.minor,
          fees: batch.fees,
          items: batch.items,
          acceptedAt: new Date(batch.acceptedAtMs),
          forgetAt: new Date(batch.acceptedAtMs + keepDays * DAY_MS),
        },
        { session },
      );
    },
  };
}
