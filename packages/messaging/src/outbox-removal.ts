import type { Clock } from '@pesewa/kernel';
import type { CrashPoint, Logger } from '@pesewa/runtime';
import type { Outbox } from './outbox-record.ts';

const AT_ONCE_MAX = 1_000;
const PAUSE_MS = { first: 100, last: 5_000 } as const;

/** Removes sent outbox records from the outbox in the background: no caller waits for it. */
export interface Removal {
  readonly remove: (id: string, removed: () => void) => void;
  /** Resolves when nothing is left to remove. */
  readonly idle: () => Promise<void>;
}

/**
 * Builds the {@link Removal}. It removes with a majority write: a failover could undo any other removal, and the outbox record
 * would be sent again, perhaps days later. Failed removals are retried.
 */
export function createRemoval(options: {
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
}): Removal {
  const { outbox, clock, logger, crashPoint } = options;
  const sent: { readonly id: string; readonly removed: () => void }[] = [];
  let removing: Promise<void> | undefined;

  async function removeAll(): Promise<void> {
    let pauseMs: number = PAUSE_MS.first;
    while (sent.length > 0) {
      const some = sent.slice(0, AT_ONCE_MAX);
      try {
        await outbox.deleteMany({ _id: { $in: some.map(({ id }) => id) } });
        crashPoint('relay.after-mark');
        sent.splice(0, some.length);
        for (const { removed } of some) removed();
        pauseMs = PAUSE_MS.first;
      } catch (error) {
        logger.warn({ err: error, outboxRecords: sent.length }, 'sent outbox records cannot be removed yet');
        await clock.sleep(pauseMs);
        pauseMs = Math.min(pauseMs * 2, PAUSE_MS.last);
      }
    }
  }

  return {
    remove: (id, removed) => {
      sent.push({ id, removed });
      removing ??= removeAll().finally(() => {
        removing = undefined;
      });
    },
    idle: async () => {
      while (removing) await removing;
    },
  };
}
