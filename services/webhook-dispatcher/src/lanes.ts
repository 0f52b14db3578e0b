/** Keeps one merchant's endpoint from holding the others up: so many deliveries at once per lane, in this process. */
export interface Lanes {
  /** Enters a lane, or tells how long to wait before the next try; whoever entered must leave. */
  readonly enter: (lane: string) => Entry;
}

/** A place in a lane, or the wait for one. */
export type Entry =
  | { readonly entered: true; readonly leave: () => void }
  | { readonly entered: false; readonly waitMs: number };

const WAIT_MS = { least: 100, most: 30_000 } as const;

/**
 * Builds {@link Lanes}. The wait grows with the number of deliveries turned away since a place was last free, so a
 * long queue before a dead endpoint is asked for rarely.
 */
export function createLanes(options: { readonly concurrencyMax: number }): Lanes {
  const lanes = new Map<string, { active: number; turnedAway: number }>();
  return {
    enter: (name) => {
      const lane = lanes.get(name) ?? { active: 0, turnedAway: 0 };
      lanes.set(name, lane);
      if (lane.active >= options.concurrencyMax) {
        lane.turnedAway += 1;
        const waitMs = WAIT_MS.least * (1 + lane.turnedAway / options.concurrencyMax);
        return { entered: false, waitMs: Math.min(WAIT_MS.most, Math.round(waitMs)) };
      }
      lane.active += 1;
      lane.turnedAway = 0;
      return {
        entered: true,
        leave: () => {
          lane.active -= 1;
          if (lane.active === 0) lanes.delete(name);
        },
      };
    },
  };
}
