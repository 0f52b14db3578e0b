/** Too much is asked at once: nothing was read. */
class DirectoryBusyError extends Error {
  override readonly name = 'DirectoryBusyError';
}

/** Runs work within a bound on how much of it is under way. */
export type Limiter = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** Builds a limiter: some run, some wait in their order, what comes beyond rejects. */
export function createLimiter(bounds: { readonly runningMax: number; readonly waitingMax: number }): Limiter {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= bounds.runningMax) {
      if (waiting.length >= bounds.waitingMax) throw new DirectoryBusyError('too many reads at once');
      // Whoever ends hands its place over, so that nobody who comes later takes it.
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
