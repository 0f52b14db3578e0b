/** Work of one kind, of which each key has only so much under way; the rest waits, and nothing comes of it beyond. */
export type Turns = <Value>(key: string, work: () => Promise<Value>) => Promise<Value | undefined>;

/** Builds {@link Turns}, with bounds for each key; a key without work takes no memory. */
export function createTurns(bounds: { readonly runningMax: number; readonly waitingMax: number }): Turns {
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
      // A place is handed over, so that nobody who comes later takes it.
      const next = queue.waiting.shift();
      if (next) next();
      else queue.running -= 1;
      if (queue.running === 0) queues.delete(key);
    }
  };
}
