import { endLease, type Loop, leasesOf, type Messaging, startLoop, takeLease } from '@pesewa/messaging';
import type { ServiceScope } from '@pesewa/runtime';
import type { Collection } from 'mongodb';
import type { Keep, MatchRecord, MatchRun, MatchStore } from './store.ts';

/** The dependencies of {@link startRuns}. */
export interface RunDeps<Run extends MatchRun, Record extends MatchRecord>
  extends Pick<ServiceScope<object>, 'clock' | 'ids' | 'logger'> {
  /** The source, which names the loop and its lease. */
  readonly name: string;
  readonly store: MatchStore<Run, Record>;
  /** Runs that agree in this field stay in order: a later one waits while an earlier one is to be tried again. */
  readonly inOrderBy: '_id' | (keyof Run & 'rail');
  /** Takes the next steps of a run that it holds; what a step has done is done again harmlessly. */
  readonly step: (run: Run, keep: Keep) => Promise<unknown>;
  readonly messaging: Pick<Messaging, 'db' | 'owner'>;
  readonly pauseMs: number;
}

/** Longer than any piece of work between two renewals. */
const LEASE_MS = 20_000;
const RENEW_MS = 5_000;
/** How long a step waits until the owners' published events are applied here. */
const CAUGHT_UP_TIMEOUT_MS = 5_000;
/** The pause until a run that waits is looked at again. */
export const LOOK_MS = 1_000;
/** When a step that failed is tried again; runs that need not stay behind it go on meanwhile. */
const RETRY_MS = 5_000;

/**
 * Takes the runs of a source through their stages, one after another in the order in which they are due: one replica at a
 * time by a lease, the next one from where the last has stopped.
 */
export function startRuns<Run extends MatchRun, Record extends MatchRecord>(
  deps: RunDeps<Run, Record>,
): Loop {
  const { name, store, messaging, clock, ids, inOrderBy } = deps;
  const runs = store.runs as unknown as Collection<MatchRun>;
  const { owner } = messaging;
  const leases = leasesOf(messaging.db);
  const take = () => takeLease(leases, { name, owner, durationMs: LEASE_MS });

  /** What keeps the lease from now on. */
  function keeper(signal: AbortSignal): Keep {
    let renewedMs = clock.nowMs();
    return async () => {
      if (signal.aborted) throw new Error('closing: the run goes on at the next start');
      if (clock.nowMs() - renewedMs < RENEW_MS) return;
      if (!(await take())) throw new Error('another replica drives the runs now');
      renewedMs = clock.nowMs();
    };
  }

  const loop = startLoop({
    ...deps,
    round: async (signal, processed) => {
      const now = new Date(clock.nowMs());
      const isDue = { running: true, dueAt: { $lte: now } } as const;
      const heldUp = await runs.distinct(inOrderBy, { ...isDue, retryAt: { $gt: now } });
      const due = { ...isDue, [inOrderBy]: { $nin: heldUp } };
      const waiting = await runs.findOne(due, { sort: { dueAt: 1 } });
      if (!waiting || !(await take())) return false;
      const mine = { _id: waiting._id, claim: ids.next('cm') };
      const held = await runs.findOneAndUpdate(
        { ...isDue, _id: mine._id },
        { $set: { claim: mine.claim }, $unset: { retryAt: true } },
        { returnDocument: 'after' },
      );
      if (!held) return true;
      try {
        await deps.step(held as Run, keeper(signal));
      } catch (error) {
        if (!signal.aborted)
          await runs.updateOne(mine, [{ $set: { retryAt: { $add: ['$$NOW', RETRY_MS] } } }]);
        throw error;
      }
      processed(1);
      return true;
    },
  });
  return {
    wake: loop.wake,
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      // So that another replica need not wait until it runs out.
      await endLease(leases, { name, owner });
    },
  };
}

/** Whether everything that the owners published is applied here. */
export function isCaughtUp(messaging: Pick<Messaging, 'caughtUp'>): Promise<boolean> {
  return messaging.caughtUp(['payouts', 'collections'], CAUGHT_UP_TIMEOUT_MS);
}
