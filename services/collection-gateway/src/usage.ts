import { hash } from 'node:crypto';
import type { ClientSession, Db } from 'mongodb';
import { canonicalNumber } from './domain/customer-number.ts';
import type { CountChange, NumberLimit } from './domain/limits.ts';

/** How often something was done for a number within an hour. */
interface UsageDocument {
  readonly _id: string;
  readonly count: number;
  readonly forgetAt: Date;
}

/** What is counted by customers' numbers; no document holds a number. */
export interface UsageStore {
  /** By the id of the limit; absent where nothing was counted yet. */
  readonly read: (
    limits: readonly NumberLimit[],
    session: ClientSession,
  ) => Promise<ReadonlyMap<string, number>>;
  /** Saves what a transaction counted, each against the value that it read; a conflict aborts the transaction. */
  readonly save: (changes: readonly CountChange[], session: ClientSession) => Promise<void>;
}

/** What a customer's number is counted under, whatever its spelling: a digest, since numbers are personal data. */
export function digestOfNumber(number: {
  readonly customerNumber: string;
  readonly country: string;
}): string {
  return hash('sha256', canonicalNumber(number.customerNumber, number.country), 'base64url');
}

/** Opens the store; MongoDB forgets hours that are over. */
export function openUsageStore(db: Db): UsageStore {
  const collection = db.collection<UsageDocument>('usage');
  return {
    read: async (limits, session) => {
      if (limits.length === 0) return new Map();
      const filter = { _id: { $in: [...new Set(limits.map(({ id }) => id))] } };
      const found = await collection.find(filter, { session }).toArray();
      return new Map(found.map(({ _id, count }) => [_id, count]));
    },
    save: async (changes, session) => {
      if (changes.length === 0) return;
      // An hour that someone else began meanwhile is a duplicate key or a write conflict: both run the work again.
      const writes = changes.map(({ limit, before, after }) => ({
        updateOne: {
          filter: { _id: limit.id, count: before },
          update: { $set: { count: after, forgetAt: new Date(limit.forgetAtMs) } },
          upsert: true,
        },
      }));
      await collection.bulkWrite(writes, { session, ordered: false });
    },
  };
}
