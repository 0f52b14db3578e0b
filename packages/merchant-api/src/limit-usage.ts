import type { ClientSession, Db } from 'mongodb';

/** A limit on what may be used within a time, such as a day's amount. */
export interface UsageLimit {
  /** What is counted, for whom and when; has no personal data. */
  readonly id: string;
  readonly max: bigint;
  /** How much of it is used by what it is applied to. */
  readonly takes: bigint;
  /** After this time the count is not needed any more. */
  readonly forgetAtMs: number;
}

/** The used part of a limit before and after a transaction. */
export interface UsageChange {
  readonly limit: UsageLimit;
  readonly before: bigint;
  readonly after: bigint;
}

/** Counts what a transaction uses, on top of what was used before it. */
export type LimitUsage = ReturnType<typeof openLimitUsage>;

/** Opens a {@link LimitUsage} over what was used before, by id; an absent limit has used nothing. */
export function openLimitUsage(usedBefore: ReadonlyMap<string, bigint>) {
  const changes = new Map<string, UsageChange>();
  const usedOf = ({ id }: UsageLimit) => changes.get(id)?.after ?? usedBefore.get(id) ?? 0n;
  const set = (limit: UsageLimit, after: bigint) =>
    changes.set(limit.id, { limit, before: usedBefore.get(limit.id) ?? 0n, after });
  return {
    /**
     * Adds to each limit what it takes, as often as it is given. If one would be exceeded, it adds nothing and gives the
     * first such limit.
     */
    add: <Limit extends UsageLimit>(limits: readonly Limit[]): Limit | undefined => {
      // One limit may be given several times, such as that of a day by all items of a batch.
      const after = new Map<string, bigint>();
      for (const limit of limits) {
        const used = (after.get(limit.id) ?? usedOf(limit)) + limit.takes;
        if (used > limit.max) return limit;
        after.set(limit.id, used);
      }
      for (const limit of limits) set(limit, after.get(limit.id) ?? 0n);
      return undefined;
    },
    /** Subtracts it again from each limit, for something that was counted and did not happen. */
    subtract: (limits: readonly UsageLimit[]) => {
      // The count of a time that was deleted meanwhile is zero.
      for (const limit of limits) if (usedOf(limit) >= limit.takes) set(limit, usedOf(limit) - limit.takes);
    },
    changes: (): readonly UsageChange[] =>
      [...changes.values()].filter(({ before, after }) => before !== after),
  };
}

/** The used parts of limits. */
export type LimitUsageStore = ReturnType<typeof openUsageStore>;

/** The used part of a limit as MongoDB holds it. */
interface UsageDocument {
  readonly _id: string;
  readonly forgetAt: Date;
  readonly used: bigint;
}

/**
 * Opens the store, whose documents hold in `used` an amount in minor units, or a number of times; MongoDB deletes what is
 * not needed any more.
 */
export function openUsageStore(db: Db) {
  const collection = db.collection<UsageDocument>('usage');
  return {
    /** By the id of the limit; an unused limit is left out. */
    read: async (
      limits: readonly UsageLimit[],
      session?: ClientSession,
    ): Promise<ReadonlyMap<string, bigint>> => {
      if (limits.length === 0) return new Map();
      const filter = { _id: { $in: [...new Set(limits.map(({ id }) => id))] } };
      const found = await collection.find(filter, { ...(session && { session }) }).toArray();
      return new Map(found.map((document) => [document._id, BigInt(String(document.used))]));
    },
    /** Saves what a transaction used, each against the value that was read; a conflict aborts the transaction. */
    save: async (changes: readonly UsageChange[], session: ClientSession) => {
      if (changes.length === 0) return;
      // If somebody else inserts the same limit meanwhile, this is a duplicate key or a write conflict; both rerun the
      // work.
      const writes = changes.map(({ limit, before, after }) => ({
        updateOne: {
          filter: { _id: limit.id, used: before },
          update: { $set: { used: after, forgetAt: new Date(limit.forgetAtMs) } },
          upsert: true,
        },
      }));
      await collection.bulkWrite(writes, { session, ordered: false });
    },
  };
}
