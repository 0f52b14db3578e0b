import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';

/** Waits for work as long as an answer may wait; the work itself goes on. Disposing of it awaits what is under way. */
export interface Patience extends AsyncDisposable {
  /** How long an answer may wait at all. */
  readonly deadlineMs: number;
  /**
   * The work's value, or nothing where it takes too long or breaks: its outcome is then unclear. What of the deadline
   * is left may be less than all of it.
   */
  readonly within: <Value>(work: Promise<Value>, leftMs?: number) => Promise<Value | undefined>;
}

/** Builds {@link Patience} with one deadline for all work. */
export function createPatience(deps: {
  readonly deadlineMs: number;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly logger: Pick<Logger, 'error'>;
}): Patience {
  const working = new Set<Promise<unknown>>();
  return {
    deadlineMs: deps.deadlineMs,
    within: async (work, leftMs = deps.deadlineMs) => {
      const settled = work.catch((error: unknown) => {
        deps.logger.error({ err: error }, 'work that an answer waited for has broken');
        return undefined;
      });
      working.add(settled);
      void settled.finally(() => working.delete(settled));
      const waiting = new AbortController();
      const tooLong = deps.clock.sleep(Math.max(0, leftMs), waiting.signal).then(() => undefined);
      try {
        return await Promise.race([settled, tooLong]);
      } finally {
        waiting.abort();
      }
    },
    [Symbol.asyncDispose]: async () => {
      while (working.size > 0) await Promise.all(working);
    },
  };
}
