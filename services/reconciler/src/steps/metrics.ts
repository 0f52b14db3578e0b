import type { Clock } from '@pesewa/kernel';
import type { Registry } from 'prom-client';
import { ageSeconds, gauge, METRIC_TIMEOUT_MS, readInTime } from '../gauges.ts';
import type { WorkingStore } from '../store.ts';
import type { Audit } from './audit.ts';
import type { StepStore } from './store.ts';

/** Where counts of payments that wait for the ledger end. */
const WAITING_COUNTED_MAX = 1_000_000;

/** Registers the gauges of what waits at a step of ours, and of how old the last audit is. */
export function gaugeSteps(
  registry: Registry,
  {
    stepStore,
    store,
    clock,
  }: { readonly stepStore: StepStore; readonly store: WorkingStore; readonly clock: Clock },
  audit: Pick<Audit, 'show'>,
): void {
  gauge({
    registry,
    name: 'payments_awaiting_ledger',
    help: 'Payments that still lack a ledger entry after the grace time, or after a request for it, and are not judged yet; no value while the database does not answer.',
    read: () => {
      const $lte = new Date(clock.nowMs());
      const options = { limit: WAITING_COUNTED_MAX, maxTimeMS: METRIC_TIMEOUT_MS };
      const first = store.collection.countDocuments({ booksDueAt: { $lte } }, options);
      const again = stepStore.countDue('entry', $lte, options);
      return readInTime(
        Promise.all([first, again]).then(([one, other]) => one + other),
        clock,
      );
    },
  });
  gauge({
    registry,
    name: 'oldest_overdue_step_seconds',
    help: 'How long the oldest overdue step of a payment has lasted, by step and kind of payment; no value if none is overdue.',
    labelNames: ['step', 'kind'],
    read: async () => {
      const followed = await readInTime(stepStore.followed(METRIC_TIMEOUT_MS), clock);
      return followed?.map(({ step, kind, since }) => [{ step, kind }, ageSeconds(since, clock)]);
    },
  });
  const startedAt = new Date(clock.nowMs());
  gauge({
    registry,
    name: 'last_audit_age_seconds',
    help: "Time since all open payments were last compared with their gateway's records, by kind of payment; the time since the start if they never were.",
    labelNames: ['kind'],
    read: async () => {
      const shown = await readInTime(audit.show(METRIC_TIMEOUT_MS), clock);
      return shown?.map(({ kind, doneAt }) => [{ kind }, ageSeconds(new Date(doneAt ?? startedAt), clock)]);
    },
  });
}
