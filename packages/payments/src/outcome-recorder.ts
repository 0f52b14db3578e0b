import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';

/** Commits the answers of rails to calls, each again and again until it is committed. */
export type OutcomeRecorder = ReturnType<typeof createOutcomeRecorder>;

const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 1_000;

/**
 * Builds a {@link OutcomeRecorder}.
 *
 * A rail's refusal can't be fetched again: if it were lost, the rail would not know the payment, which would then be
 * held, or sent again. Repeating is safe, because an outcome counts only for its own attempt, and only once.
 */
export function createOutcomeRecorder(deps: {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** The question to the rail that decides where an answer is not recorded. */
  readonly thenAsks: 'lookup' | 'status check';
}) {
  const { clock, logger, thenAsks } = deps;
  const closing = new AbortController();
  return {
    /** What the commit gives; undefined if it did not succeed before we closed. `about` is logged. */
    record: async <Value>(
      commit: () => Promise<Value>,
      about: Readonly<Record<string, unknown>>,
    ): Promise<Value | undefined> => {
      for (let pauseMs = PAUSE_MIN_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
        try {
          return await commit();
        } catch (error) {
          const logged = { err: error, ...about };
          if (closing.signal.aborted) {
            logger.error(logged, `the answer of the rail is not recorded; its ${thenAsks} will decide`);
            return undefined;
          }
          logger.warn(logged, 'the answer of the rail is not recorded yet');
        }
        await clock.sleep(pauseMs, closing.signal);
      }
    },
    /** Ends all further retries. */
    stop: () => closing.abort(),
  };
}
