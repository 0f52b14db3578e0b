/** Too many lookups at once: nothing was read. */
class DirectoryBusyError extends Error {
  override readonly name = 'DirectoryBusyError';
}

/** Runs work within a bound on how much of it runs at once. */
export type Limiter = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** Builds a limiter: some work runs, some waits in order, and any beyond that rejects. */
export function createLimiter(bounds: { readonly runningMax: number; readonly waitingMax: number }): Limiter {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= bounds.runningMax) {
      if (waiting.length >= bounds.waitingMax) throw new DirectoryBusyError('too many reads at once');
      // Finished work hands its place to the first in the queue, so that later work can't take it.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
