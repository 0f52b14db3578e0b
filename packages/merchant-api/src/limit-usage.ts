import type { ClientSession, Db } from 'mongodb';

/** A limit on what may be used within a time, such as a day's amount. */
export interface UsageLimit {
  /** What is counted, for whom and when; has no personal data. */
  readonly id: string;
  readonly max: bigint;
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
export interface LimitUsage {
  /** Adds an amount to each limit. If one would be exceeded, it adds nothing and gives the first such limit. */
  readonly add: <Limit extends UsageLimit>(limits: readonly Limit[], amount: bigint) => Limit | undefined;
  /** Subtracts an amount from each limit, for something that was counted and did not happen. */
  readonly subtract: (limits: readonly UsageLimit[], amount: bigint) => void;
  readonly changes: () => readonly UsageChange[];
}

/** Opens a {@link LimitUsage} over what was used before, by id; an absent limit has used nothing. */
export function openLimitUsage(usedBefore: ReadonlyMap<string, bigint>): LimitUsage {
  const changes = new Map<string, UsageChange>();
  const usedOf = ({ id }: UsageLimit) => changes.get(id)?.after ?? usedBefore.get(id) ?? 0n;
  const set = (limit: UsageLimit, after: bigint) =>
    changes.set(limit.id, { limit, before: usedBefore.get(limit.id) ?? 0n, after });
  return {
    add: (limits, amount) => {
      const full = limits.find((limit) => usedOf(limit) + amount > limit.max);
      if (full) return full;
      for (const limit of limits) set(limit, usedOf(limit) + amount);
      return undefined;
    },
    subtract: (limits, amount) => {
      // The count of a time that was deleted meanwhile is zero.
      for (const limit of limits) if (usedOf(limit) >= amount) set(limit, usedOf(limit) - amount);
    },
    changes: () => [...changes.values()].filter(({ before, after }) => before !== after),
  };
}

/** The used parts of limits. */
export interface LimitUsageStore {
  /** By the id of the limit; an unused limit is left out. */
  readonly read: (
    limits: readonly UsageLimit[],
    session?: ClientSession,
  ) => Promise<ReadonlyMap<string, bigint>>;
  /** Saves what a transaction used, each against the value that was read; a conflict aborts the transaction. */
  readonly save: (changes: readonly UsageChange[], session: ClientSession) => Promise<void>;
}

/** The used part of a limit as MongoDB holds it, in a field that each service has named. */
interface UsageDocument {
  readonly _id: string;
  readonly forgetAt: Date;
  readonly [used: string]: unknown;
}

/** What a service's documents of usage hold: an amount in minor units, or a number of times. */
const usageFields = {
  accepted: (used: bigint) => used,
  count: Number,
} as const satisfies Readonly<Record<string, (used: bigint) => bigint | number>>;

/** Opens the store; MongoDB deletes what is not needed any more. */
export function openUsageStore(db: Db, field: keyof typeof usageFields): LimitUsageStore {
  const collection = db.collection<UsageDocument>('usage');
  const stored = usageFields[field];
  return {
    read: async (limits, session) => {
      if (limits.length === 0) return new Map();
      const filter = { _id: { $in: [...new Set(limits.map(({ id }) => id))] } };
      const found = await collection.find(filter, { ...(session && { session }) }).toArray();
      return new Map(found.map((document) => [document._id, BigInt(String(document[field]))]));
    },
    save: async (changes, session) => {
      if (changes.length === 0) return;
      // If somebody else inserts the same limit meanwhile, this is a duplicate key or a write conflict; both rerun the
      // work.
      const writes = changes.map(({ limit, before, after }) => ({
        updateOne: {
          filter: { _id: limit.id, [field]: stored(before) },
          update: { $set: { [field]: stored(after), forgetAt: new Date(limit.forgetAtMs) } },
          upsert: true,
        },
      }));
      await collection.bulkWrite(writes, { session, ordered: false });
    },
  };
}
