import type { ClientSession, Db } from 'mongodb';
import type { DayChange, DayLimit } from './domain/limits.ts';

/** How much of a limited day is used; only merchants with a limit per day have such documents. */
interface UsageDocument {
  readonly _id: string;
  /** Minor units, of everything accepted, whatever became of it. */
  readonly accepted: bigint;
  readonly forgetAt: Date;
}

/** What merchants with a limit per day have used of their days. */
export interface UsageStore {
  /** By the id of the day; absent where nothing was used yet. */
  readonly read: (
    limits: readonly DayLimit[],
    session?: ClientSession,
  ) => Promise<ReadonlyMap<string, bigint>>;
  /** Saves what a transaction counted, each against the value that it read; a conflict aborts the transaction. */
  readonly save: (changes: readonly DayChange[], session: ClientSession) => Promise<void>;
}

/** Opens the store; MongoDB forgets days that are long over. */
export function openUsageStore(db: Db): UsageStore {
  const collection = db.collection<UsageDocument>('usage');
  return {
    read: async (limits, session) => {
      const filter = { _id: { $in: [...new Set(limits.map(({ id }) => id))] } };
      const found = await collection.find(filter, { ...(session && { session }) }).toArray();
      return new Map(found.map(({ _id, accepted }) => [_id, accepted]));
    },
    save: async (changes, session) => {
      for (const { limit, before, after } of changes) {
        // A day that someone else began meanwhile is a duplicate key or a write conflict: both run the work again.
        await collection.updateOne(
          { _id: limit.id, accepted: before },
          { $set: { accepted: after, forgetAt: new Date(limit.forgetAtMs) } },
          { session, upsert: true },
        );
      }
    },
  };
}
