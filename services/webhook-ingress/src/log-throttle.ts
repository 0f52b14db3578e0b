import type { Clock } from '@pesewa/kernel';

const EVERY_MS = 10_000;

/**
 * Reports an event at most every ten seconds, with how often it occurred since: events that come by the thousand must
 * not fill the log.
 */
export function createLogThrottle(clock: Pick<Clock, 'nowMs'>, note: (times: number) => void): () => void {
  let times = 0;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    times += 1;
    const nowMs = clock.nowMs();
    if (nowMs < nextAtMs) return;
    note(times);
    times = 0;
    nextAtMs = nowMs + EVERY_MS;
  };
}
