import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, systemClock } from '@pesewa/kernel';

/** A clock that jumps to the end of each sleep, after everything that does not wait for time has run. */
export function createAutoAdvancingClock(): Clock {
  let skippedMs = 0;
  return {
    ...systemClock,
    nowMs: () => systemClock.nowMs() + skippedMs,
    sleep: async (durationMs, signal) => {
      await nextTurn();
      if (!signal?.aborted) skippedMs += durationMs;
    },
  };
}
