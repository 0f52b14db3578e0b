/**
 * Keeps one merchant's endpoint from delaying the others by limiting concurrent deliveries per bulkhead, in this process.
 */
export interface Bulkheads {
  /** Waits for a place in the bulkhead and gives the function that leaves it; undefined if its queue is full too. */
  readonly enter: (bulkhead: string) => Promise<(() => void) | undefined>;
  /** The bulkheads without a free place: nothing more should be claimed for them. */
  readonly full: () => readonly string[];
}

interface Bulkhead {
  active: number;
  readonly line: (() => void)[];
}

/**
 * Builds {@link Bulkheads}: `concurrencyMax` concurrent deliveries per bulkhead, and twice as many in its queue, so that a free
 * place is taken at once.
 */
export function createBulkheads(options: {
  readonly concurrencyMax: number;
  /** Called when a bulkhead that was full has a place again. */
  readonly freed: () => void;
}): Bulkheads {
  const bulkheads = new Map<string, Bulkhead>();
  const lineMax = options.concurrencyMax * 2;

  function leave(name: string, bulkhead: Bulkhead): void {
    const next = bulkhead.line.shift();
    if (next) {
      next();
      return;
    }
    bulkhead.active -= 1;
    if (bulkhead.active === 0) bulkheads.delete(name);
    if (bulkhead.active === options.concurrencyMax - 1) options.freed();
  }

  return {
    enter: async (name) => {
      const bulkhead = bulkheads.get(name) ?? { active: 0, line: [] };
      bulkheads.set(name, bulkhead);
      if (bulkhead.active < options.concurrencyMax) {
        bulkhead.active += 1;
      } else {
        if (bulkhead.line.length >= lineMax) return undefined;
        // A finished delivery hands its place over, so that the count stays the same.
        const place = Promise.withResolvers<void>();
        bulkhead.line.push(place.resolve);
        await place.promise;
      }
      return () => leave(name, bulkhead);
    },
    full: () =>
      [...bulkheads].flatMap(([name, { active }]) => (active >= options.concurrencyMax ? [name] : [])),
  };
}
