import type { Clock } from '@pesewa/kernel';
import type { ChunkTransaction } from '@pesewa/messaging';
import { awaited, type Sighting, sight, type Tracked } from './domain/tracked.ts';
import type { ReconcilerEvents } from './events.ts';
import type { WorkingStore } from './store.ts';

/** A sighting of a payment, and the event that it is read from. */
export interface Seen {
  readonly reference: string;
  readonly eventId: string;
  readonly sighting: Sighting;
}

/** The projection of open payments (design 7). */
export interface WorkingSet {
  /** Applies sightings in order within the transaction of their chunk. */
  readonly apply: (seen: readonly Seen[], transaction: ChunkTransaction) => Promise<void>;
}

/** Builds the {@link WorkingSet}. */
export function createWorkingSet(deps: {
  readonly store: WorkingStore;
  readonly events: ReconcilerEvents;
  readonly clock: Clock;
  readonly firstPollAfterMs: number;
  /** Called when a payment has become due at once. */
  readonly becameDue: () => void;
}): WorkingSet {
  return {
    apply: async (seen, transaction) => {
      if (seen.length === 0) return;
      const nowMs = deps.clock.nowMs();
      const loaded = await deps.store.load(
        seen.map(({ reference }) => reference),
        transaction.session,
      );
      const changed = new Map<string, Tracked>();
      for (const { reference, eventId, sighting } of seen) {
        const before = changed.get(reference) ?? loaded.get(reference) ?? awaited(reference, nowMs);
        const after = sight(before, sighting, { nowMs, firstPollAfterMs: deps.firstPollAfterMs });
        if (after === before) continue;
        if (wasStuck(before, after)) transaction.emit(deps.events.stuckSettled(after, eventId));
        changed.set(reference, after);
      }
      const payments = [...changed.values()];
      await deps.store.save(payments, transaction.session);
      if (payments.some(({ dueAtMs }) => dueAtMs !== null && dueAtMs <= nowMs))
        transaction.afterCommit(deps.becameDue);
    },
  };
}

/** A payment that ended by our polls alone: no callback ever came. */
function wasStuck(before: Tracked, after: Tracked): boolean {
  return (
    before.status === 'open' && after.status !== 'open' && after.polls > 0 && after.callbacks.length === 0
  );
}
