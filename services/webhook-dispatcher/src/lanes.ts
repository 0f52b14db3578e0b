/**
 * Keeps one merchant's endpoint from delaying the others by limiting concurrent deliveries per lane, in this process.
 */
export interface Lanes {
  /** Waits for a place in the lane and gives the function that leaves it; undefined if the lane's queue is full too. */
  readonly enter: (lane: string) => Promise<(() => void) | undefined>;
  /** The lanes without a free place: nothing more should be claimed for them. */
  readonly full: () => readonly string[];
}

interface Lane {
  active: number;
  readonly line: (() => void)[];
}

/**
 * Builds {@link Lanes}: `concurrencyMax` concurrent deliveries per lane, and twice as many in its queue, so that a free
 * place is taken at once.
 */
export function createLanes(options: {
  readonly concurrencyMax: number;
  /** Called when a lane that was full has a place again. */
  readonly freed: () => void;
}): Lanes {
  const lanes = new Map<string, Lane>();
  const lineMax = options.concurrencyMax * 2;

  function leave(name: string, lane: Lane): void {
    const next = lane.line.shift();
    if (next) {
      next();
      return;
    }
    lane.active -= 1;
    if (lane.active === 0) lanes.delete(name);
    if (lane.active === options.concurrencyMax - 1) options.freed();
  }

  return {
    enter: async (name) => {
      const lane = lanes.get(name) ?? { active: 0, line: [] };
      lanes.set(name, lane);
      if (lane.active < options.concurrencyMax) {
        lane.active += 1;
      } else {
        if (lane.line.length >= lineMax) return undefined;
        // A finished delivery hands its place over, so that the count stays the same.
        const turn = Promise.withResolvers<void>();
        lane.line.push(turn.resolve);
        await turn.promise;
      }
      return () => leave(name, lane);
    },
    full: () => [...lanes].flatMap(([name, { active }]) => (active >= options.concurrencyMax ? [name] : [])),
  };
}
