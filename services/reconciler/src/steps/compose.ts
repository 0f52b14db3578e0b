import type { Clock } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import type { ServiceScope } from '@pesewa/runtime';
import type { Registry } from 'prom-client';
import type { z } from 'zod';
import type { BreakStore } from '../breaks/store.ts';
import type { settings } from '../config.ts';
import { ageSeconds, gauge, METRIC_TIMEOUT_MS, readInTime } from '../gauges.ts';
import { scheduleJob } from '../replica-jobs.ts';
import type { WorkingStore } from '../store.ts';
import { type Audit, addAuditRoutes, createAudit } from './audit.ts';
import { countAwaiting, watchEntries } from './entries.ts';
import { type StepDeps, startSteps } from './steps.ts';
import { openStepWatches, watchUnknown } from './watches.ts';

type Scope = ServiceScope<z.output<typeof settings>>;

/** The dependencies of following steps. */
type Parts = Pick<
  StepDeps,
  'workingSet' | 'breaks' | 'requestRepublication' | 'stepStore' | 'onItsWay' | 'records' | 'clock' | 'logger'
> & {
  readonly breaks: Pick<BreakStore, 'findAll'>;
  readonly messaging: StepDeps['messaging'] & Pick<Messaging, 'database'>;
  readonly store: WorkingStore;
};

/** Starts looking for steps of ours that take too long, and the audits that look at all open payments again. */
export async function composeSteps(scope: Scope, parts: Parts): Promise<Audit> {
  const { config } = scope;
  const { messaging, store } = parts;
  const watches = openStepWatches(messaging.database, store.collection);
  const audit = createAudit(parts.stepStore, watches, scope.clock);
  gaugeSteps(scope.metrics, scope.clock, parts, audit);
  await scope.open(
    'steps',
    startSteps({
      ...parts,
      watches: [
        ...watches,
        watchUnknown(store.collection, config.UNKNOWN_REFERENCE_GRACE_MS),
        ...(['payout', 'collection'] as const).map((kind) =>
          watchEntries(kind, store, parts.breaks, config.BOOKS_GRACE_MS),
        ),
      ],
      limitMs: config.STEP_LIMIT_MS,
      requestsMax: config.REPUBLISH_REQUESTS_MAX,
      pauseMs: config.STEP_PAUSE_MS,
    }),
  );
  const interval = config.COVERAGE_INTERVAL;
  await scope.open(
    'schedule of the coverage audit',
    scheduleJob({ ...parts, name: 'coverage audit', interval, run: audit.start }),
  );
  addAuditRoutes(scope.operator, audit);
  return audit;
}

function gaugeSteps(
  registry: Registry,
  clock: Clock,
  { stepStore, store }: Pick<Parts, 'stepStore' | 'store'>,
  audit: Audit,
): void {
  gauge({
    registry,
    name: 'payments_awaiting_ledger',
    help: 'Payments that still lack a ledger entry after the grace time, or after a request for it, and are not judged yet; no value while the database does not answer.',
    read: () =>
      readInTime(countAwaiting(store, stepStore, new Date(clock.nowMs()), METRIC_TIMEOUT_MS), clock),
  });
  gauge({
    registry,
    name: 'oldest_overdue_step_seconds',
    help: 'How long the oldest overdue step of a payment has lasted, by step; no value if none is overdue.',
    labelNames: ['step'],
    read: async () => {
      const standing = await readInTime(stepStore.standing(METRIC_TIMEOUT_MS), clock);
      return standing?.map(({ step, since }) => [{ step }, ageSeconds(since, clock)]);
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
