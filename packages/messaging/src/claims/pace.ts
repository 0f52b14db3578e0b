import type { Clock } from '@pesewa/kernel';

/** How much work has ended of late. */
export interface Pace {
  readonly ended: () => void;
  /** In the last second, or in the second before it if that was more. */
  readonly perSecond: () => number;
}

/** Builds a {@link Pace}; a clock that is set forward only makes it forget. */
export function createPace(clock: Pick<Clock, 'nowMs'>): Pace {
  let second = 0;
  let ended = 0;
  let endedBefore = 0;
  const turn = () => {
    const now = Math.floor(clock.nowMs() / 1_000);
    if (now === second) return;
    endedBefore = now === second + 1 ? ended : 0;
    ended = 0;
    second = now;
  };
  return {
    ended: () => {
      turn();
      ended += 1;
    },
    perSecond: () => {
      turn();
      return Math.max(ended, endedBefore);
    },
  };
}
