import type { ClientSession, Db } from 'mongodb';
import type { DayChange, DayLimit } from './domain/limits.ts';

/** The used part of a day's limit; exists only for merchants with a daily limit. */
interface UsageDocument {
  readonly _id: string;
  /** Minor units of everything accepted, whatever its outcome. */
  readonly accepted: bigint;
  readonly forgetAt: Date;
}

/** The used parts of merchants' daily limits. */
export interface UsageStore {
  /** Keyed by the id of the day; a day without use is left out. */
  readonly read: (
    limits: readonly DayLimit[],
    session?: ClientSession,
  ) => Promise<ReadonlyMap<string, bigint>>;
  /** Saves what a transaction counted, each against the value that was read; a conflict aborts the transaction. */
  readonly save: (changes: readonly DayChange[], session: ClientSession) => Promise<void>;
}

/** Opens the store; MongoDB deletes the counts of past days. */
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
        // If somebody else inserts the same day meanwhile, this is a duplicate key or a write conflict; both rerun the
        // work.
        await collection.updateOne(
          { _id: limit.id, accepted: before },
          { $set: { accepted: after, forgetAt: new Date(limit.forgetAtMs) } },
          { session, upsert: true },
        );
      }
    },
  };
}
