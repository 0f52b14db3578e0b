import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTransactionExpired, isTransientMongoError, isWriteConflict } from '../database/mongo.ts';
import type { Conflicts } from '../database/transaction.ts';
import type { Committed, Job, Transact, TransactAll } from './transact.ts';
import type { RunSerially } from './turns.ts';

interface Waiting extends Job {
  readonly conflicts: Conflicts;
  readonly done: PromiseWithResolvers<Committed<unknown>>;
}

/** Bounds the time that a transaction takes. */
const JOBS_MAX = 8;

/**
 * Builds a {@link Transact} with one transaction at a time: work that arrives meanwhile shares the next one. So a busy
 * service commits less often, and its own batches never conflict (ADR 64).
 *
 * If shared work fails, each piece runs by itself: none fails for the sake of another. Only a fault of the connection
 * or the cluster is that of all.
 */
export function createSharedTransact(transactAll: TransactAll, runSerially: RunSerially): Transact {
  const waiting: Waiting[] = [];

  async function runAlone(job: Waiting): Promise<void> {
    await transactAll([job], job.conflicts).then(([committed]) => {
      if (committed) job.done.resolve(committed);
    }, job.done.reject);
  }

  async function runWaiting(): Promise<void> {
    // The batches of one fetch arrive within one turn of the event loop.
    await nextTurn();
    const jobs = waiting.splice(0, JOBS_MAX);
    const [first] = jobs;
    if (!first) return;
    if (jobs.length === 1) return runAlone(first);
    try {
      const all = await transactAll(jobs, 'throw');
      for (const [index, committed] of all.entries()) jobs[index]?.done.resolve(committed);
    } catch (error) {
      if (isTransientMongoError(error) && !isTransactionExpired(error) && !isWriteConflict(error))
        for (const { done } of jobs) done.reject(error);
      else for (const job of jobs) await runAlone(job);
    }
  }

  return async (name, origin, work, conflicts = 'retry') => {
    const done = Promise.withResolvers<Committed<unknown>>();
    // Each turn takes up to so many.
    if (waiting.length % JOBS_MAX === 0) void runSerially(runWaiting);
    waiting.push({ name, origin, work, conflicts, done });
    return (await done.promise) as Committed<Awaited<ReturnType<typeof work>>>;
  };
}
