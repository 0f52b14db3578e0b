import { setTimeout as delay } from 'node:timers/promises';

/** The passing of time as an argument, so that tests can move it. */
export interface Clock {
  /** The wall clock, in milliseconds since the epoch (UTC). */
  readonly nowMs: () => number;
  /** Resolves after the duration, or at once and quietly when the signal aborts. */
  readonly sleep: (durationMs: number, signal?: AbortSignal) => Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: async (durationMs, signal) => {
    try {
      await delay(durationMs, undefined, { ...(signal && { signal }) });
    } catch (error) {
      if (signal?.aborted !== true) throw error;
    }
  },
};
