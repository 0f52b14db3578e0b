import { leasesOf, type Messaging, takeLease } from '@pesewa/messaging';
import { inRunSpan, type Logger } from '@pesewa/runtime';
import { schedule } from 'node-cron';

/** How long a replica has a job: longer than clocks differ, shorter than any sensible interval. */
const JOB_LEASE_MS = 10_000;

/**
 * Schedules work by a cron expression: every replica has the schedule, and a lease by the database's clock, which has the
 * name, gives the work to one.
 */
export function scheduleJob({
  name,
  interval,
  run,
  messaging,
  logger,
}: {
  readonly name: string;
  readonly interval: string;
  readonly run: () => Promise<unknown>;
  readonly messaging: Pick<Messaging, 'db' | 'owner'>;
  readonly logger: Logger;
}): AsyncDisposable {
  let running: Promise<void> = Promise.resolve();
  const runOnce = async () => {
    const request = { name, owner: messaging.owner, durationMs: JOB_LEASE_MS };
    if (!(await takeLease(leasesOf(messaging.db), request))) return;
    await inRunSpan(name, run);
  };
  const task = schedule(
    interval,
    () => {
      running = runOnce().catch((error: unknown) => logger.error({ err: error }, `the ${name} failed`));
      return running;
    },
    { noOverlap: true, name, suppressMissedWarning: true },
  );
  return {
    [Symbol.asyncDispose]: async () => {
      await task.destroy();
      await running;
    },
  };
}
