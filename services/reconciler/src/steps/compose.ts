import type { Clock } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import type { ServiceScope } from '@pesewa/runtime';
import type { Registry } from 'prom-client';
import type { z } from 'zod';
import type { CoverageStore } from '../audits/coverage-store.ts';
import type { BreakStore } from '../breaks/store.ts';
import type { settings } from '../config.ts';
import { ageSeconds, gauge, METRIC_TIMEOUT_MS, readInTime } from '../gauges.ts';
import type { WorkingStore } from '../store.ts';
import { countAwaiting, watchEntries } from './entries.ts';
import { type StepDeps, startSteps } from './steps.ts';
import { openStepWatches } from './watches.ts';

type Scope = ServiceScope<z.output<typeof settings>>;

/** The dependencies of following steps. */
type Parts = Pick<
  StepDeps,
  'workingSet' | 'breaks' | 'requestRepublication' | 'stepStore' | 'onItsWay' | 'sources' | 'clock' | 'logger'
> & {
  readonly breaks: Pick<BreakStore, 'findAll'>;
  readonly messaging: StepDeps['messaging'] & Pick<Messaging, 'database'>;
  readonly store: WorkingStore;
  readonly coverageStore: CoverageStore;
};

/** Starts looking for steps of ours that take too long. */
export async function composeSteps(scope: Scope, parts: Parts): Promise<void> {
  const { config } = scope;
  const { messaging, store } = parts;
  gaugeSteps(scope.metrics, scope.clock, parts);
  await scope.open(
    'steps',
    startSteps({
      ...parts,
      watches: [
        ...openStepWatches(messaging.database, store.collection, parts.coverageStore),
        ...(['payout', 'collection'] as const).map((kind) =>
          watchEntries(kind, store, parts.breaks, config.BOOKS_GRACE_MS),
        ),
      ],
      limitMs: config.STEP_LIMIT_MS,
      requestsMax: config.REPUBLISH_REQUESTS_MAX,
      pauseMs: config.STEP_PAUSE_MS,
    }),
  );
}

function gaugeSteps(
  registry: Registry,
  clock: Clock,
  { stepStore, store }: Pick<Parts, 'stepStore' | 'store'>,
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
}
