import { type BulkheadPolicy, bulkhead, isBulkheadRejectedError } from 'cockatiel';

/**
 * Limits concurrent work by key, in this process, so that the work of one key does not delay that of the others; each key has
 * the same limits, and one without work takes no memory.
 */
export function createBulkheads(options: { readonly runningMax: number; readonly waitingMax: number }) {
  const { runningMax, waitingMax } = options;
  const bulkheads = new Map<string, BulkheadPolicy>();
  return {
    /** Runs the work once its key has a place; undefined, without running it, if too much work of the key waits. */
    run: async <Value>(key: string, work: () => Promise<Value>): Promise<Value | undefined> => {
      const own = bulkheads.get(key) ?? bulkhead(runningMax, waitingMax);
      bulkheads.set(key, own);
      try {
        return await own.execute(work);
      } catch (error) {
        if (isBulkheadRejectedError(error)) return undefined;
        throw error;
      } finally {
        // By now the first that waited has taken the place.
        if (own.executionSlots === runningMax) bulkheads.delete(key);
      }
    },
  };
}
