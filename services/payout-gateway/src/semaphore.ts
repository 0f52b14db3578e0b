/** Runs work with a limit per key: some runs, some waits, and any beyond that is not done (undefined). */
export type Semaphore = <Value>(key: string, work: () => Promise<Value>) => Promise<Value | undefined>;

/** Builds a {@link Semaphore} with limits per key; a key without work takes no memory. */
export function createSemaphore(bounds: {
  readonly runningMax: number;
  readonly waitingMax: number;
}): Semaphore {
  const queues = new Map<string, { running: number; readonly waiting: (() => void)[] }>();
  return async (key, work) => {
    const queue = queues.get(key) ?? { running: 0, waiting: [] };
    queues.set(key, queue);
    if (queue.running < bounds.runningMax) queue.running += 1;
    else if (queue.waiting.length < bounds.waitingMax)
      await new Promise<void>((resolve) => queue.waiting.push(resolve));
    else return undefined;
    try {
      return await work();
    } finally {
      // Finished work hands its place to the first in the queue, so that later work can't take it.
      const next = queue.waiting.shift();
      if (next) next();
      else queue.running -= 1;
      if (queue.running === 0) queues.delete(key);
    }
  };
}
