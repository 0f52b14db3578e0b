/** Keeps one merchant's endpoint from holding the others up: so many deliveries at once per lane, in this process. */
export interface Lanes {
  /** Waits for a place in the lane's short line and gives the way to leave it; nothing where the line is full too. */
  readonly enter: (lane: string) => Promise<(() => void) | undefined>;
  /** The lanes without a free place: nothing more is to be claimed for them. */
  readonly full: () => readonly string[];
}

interface Lane {
  active: number;
  readonly line: (() => void)[];
}

/**
 * Builds {@link Lanes}: `concurrencyMax` deliveries at once per lane, and twice as many in its line, so that a place
 * that becomes free is taken at once.
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
        // Whoever leaves hands its place over, so that the count stays.
        const turn = Promise.withResolvers<void>();
        lane.line.push(turn.resolve);
        await turn.promise;
      }
      return () => leave(name, lane);
    },
    full: () => [...lanes].flatMap(([name, { active }]) => (active >= options.concurrencyMax ? [name] : [])),
  };
}
