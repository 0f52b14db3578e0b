import { type BulkheadPolicy, bulkhead, isBulkheadRejectedError } from 'cockatiel';

/** Limits concurrent work by key, in this process, so that the work of one key does not delay that of the others. */
export interface Bulkheads {
  /** Runs the work once its key has a place; undefined, without running it, if too much work of the key waits. */
  readonly run: <Value>(key: string, work: () => Promise<Value>) => Promise<Value | undefined>;
  /** The keys without a free place. */
  readonly full: () => readonly string[];
  /** How much more work of the key would run or wait; none if its key is full. */
  readonly room: (key: string) => number;
}

/** Builds {@link Bulkheads} with the same limits for each key; a key without work takes no memory. */
export function createBulkheads(options: {
  readonly runningMax: number;
  readonly waitingMax: number;
  /** Called when a key that was full has a place again. */
  readonly freed?: () => void;
}): Bulkheads {
  const { runningMax, waitingMax, freed } = options;
  const bulkheads = new Map<string, BulkheadPolicy>();
  const full = new Set<string>();
  return {
    run: async (key, work) => {
      const own = bulkheads.get(key) ?? bulkhead(runningMax, waitingMax);
      bulkheads.set(key, own);
      try {
        const done = own.execute(work);
        if (own.executionSlots === 0) full.add(key);
        return await done;
      } catch (error) {
        if (isBulkheadRejectedError(error)) return undefined;
        throw error;
      } finally {
        // By now the first that waited has taken the place.
        if (own.executionSlots === runningMax) bulkheads.delete(key);
        if (own.executionSlots > 0 && full.delete(key)) freed?.();
      }
    },
    full: () => [...full],
    room: (key) => {
      const own = bulkheads.get(key);
      if (!own) return runningMax + waitingMax;
      return full.has(key) ? 0 : own.executionSlots + own.queueSlots;
    },
  };
}
