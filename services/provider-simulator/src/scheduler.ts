import type { Clock } from '@pesewa/kernel';

/** Runs tasks later; those still due when it closes are left to the next start. */
export interface Scheduler extends Disposable {
  /** Runs the task once the clock has reached the time, never before. */
  readonly at: (dueMs: number, task: () => void) => void;
}

/** Builds a scheduler on the process's timers. */
export function createScheduler(clock: Clock): Scheduler {
  const timers = new Set<NodeJS.Timeout>();
  let closed = false;
  const at = (dueMs: number, task: () => void) => {
    if (closed) return;
    const onTimer = () => {
      timers.delete(timer);
      // Timers use another clock than the wall clock and may be a millisecond ahead of it.
      if (clock.nowMs() < dueMs) at(dueMs, task);
      else task();
    };
    const timer = setTimeout(onTimer, Math.max(0, dueMs - clock.nowMs()));
    timers.add(timer);
  };
  return {
    at,
    [Symbol.dispose]: () => {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
