import type { Clock } from '@pesewa/kernel';

/** How much work has ended of late. */
export interface ThroughputMeter {
  readonly countEnd: () => void;
  /** In the last second, or in the second before it if that was more. */
  readonly perSecond: () => number;
}

/** Builds a {@link ThroughputMeter}; a clock that is set forward only makes it forget. */
export function createThroughputMeter(clock: Pick<Clock, 'nowMs'>): ThroughputMeter {
  let second = 0;
  let ended = 0;
  let endedBefore = 0;
  const advance = () => {
    const now = Math.floor(clock.nowMs() / 1_000);
    if (now === second) return;
    endedBefore = now === second + 1 ? ended : 0;
    ended = 0;
    second = now;
  };
  return {
    countEnd: () => {
      advance();
      ended += 1;
    },
    perSecond: () => {
      advance();
      return Math.max(ended, endedBefore);
    },
  };
}
