import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { Applied, CollectionOrderCommand, Collections } from './collections.ts';

/** Records the rails' answers to initiations, each repeatedly until it is committed. */
export interface Recorder {
  /** The collection after the outcome; undefined if the outcome could not be recorded before we closed. */
  readonly record: (command: CollectionOrderCommand) => Promise<Applied | undefined>;
  /** Ends all further retries. */
  readonly stop: () => void;
}

const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 1_000;

/**
 * Builds a {@link Recorder}.
 *
 * A rail's refusal can't be fetched again: if it were lost, the rail would not know the collection, which would then be
 * initiated again. Repeating is safe, because an outcome counts only for its own attempt, and only once.
 */
export function createRecorder(deps: {
  readonly collections: Pick<Collections, 'recordOutcome'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
}): Recorder {
  const { collections, clock, logger } = deps;
  const closing = new AbortController();
  return {
    record: async (command) => {
      for (let pauseMs = PAUSE_MIN_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
        try {
          return await collections.recordOutcome(command);
        } catch (error) {
          const logged = { err: error, reference: command.reference };
          if (closing.signal.aborted) {
            logger.error(logged, 'the answer of the rail is not recorded; its status check will decide');
            return undefined;
          }
          logger.warn(logged, 'the answer of the rail is not recorded yet');
        }
        await clock.sleep(pauseMs, closing.signal);
      }
    },
    stop: () => closing.abort(),
  };
}
