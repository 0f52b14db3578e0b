import { type Clock, withDeadline } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';

/**
 * Waits for work until an answer's deadline, while the work itself goes on. Disposing of it awaits the work in
 * progress.
 */
export type AnswerDeadline = ReturnType<typeof createAnswerDeadline>;

/** Builds {@link AnswerDeadline} with the same deadline for all work. */
export function createAnswerDeadline(deps: {
  readonly deadlineMs: number;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly logger: Pick<Logger, 'error'>;
}) {
  const working = new Set<Promise<unknown>>();
  return {
    /** The longest that an answer may wait. */
    deadlineMs: deps.deadlineMs,
    /**
     * The work's value; undefined if it takes too long or fails, so that its outcome is unclear. `leftMs` is the rest of
     * the deadline, if a part of it is over.
     */
    within: async <Value>(
      work: Promise<Value>,
      leftMs: number = deps.deadlineMs,
    ): Promise<Value | undefined> => {
      const finished = work.catch((error: unknown) => {
        deps.logger.error({ err: error }, 'work that an answer waited for has broken');
        return undefined;
      });
      working.add(finished);
      void finished.finally(() => working.delete(finished));
      return withDeadline(finished, Math.max(0, leftMs), deps.clock).catch(() => undefined);
    },
    [Symbol.asyncDispose]: async () => {
      while (working.size > 0) await Promise.all(working);
    },
  };
}
