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

/** The counts by customers' numbers; no document contains a number. */
export interface UsageStore {
  /** Keyed by the id of the limit; a limit without a count is left out. */
  readonly read: (
    limits: readonly NumberLimit[],
    session: ClientSession,
  ) => Promise<ReadonlyMap<string, number>>;
  /** Saves what a transaction counted, each against the value that was read; a conflict aborts the transaction. */
  readonly save: (changes: readonly CountChange[], session: ClientSession) => Promise<void>;
}

/** The key under which a customer's number is counted, in any spelling: a digest, because numbers are personal data. */
export function digestOfNumber(number: {
  readonly customerNumber: string;
  readonly country: string;
}): string {
  return hash('sha256', canonicalNumber(number.customerNumber, number.country), 'base64url');
}

/** Opens the store; MongoDB deletes the counts of past hours. */
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
      // If somebody else inserts the same hour meanwhile, this is a duplicate key or a write conflict; both rerun the
      // work.
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
