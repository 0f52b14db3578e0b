import { withDeadline } from '@pesewa/kernel';
import type { ServiceScope } from '@pesewa/runtime';
import { Gauge } from 'prom-client';
import type { z } from 'zod';
import { openCoverageSources } from '../audits/coverage-source.ts';
import { openCoverageStore } from '../audits/coverage-store.ts';
import type { BreakStore } from '../breaks/store.ts';
import type { settings } from '../config.ts';
import type { RailFee } from '../handlers.ts';
import type { WorkingStore } from '../store.ts';
import { watchEntries } from './entries.ts';
import { type StepDeps, startSteps } from './steps.ts';
import type { StepStore } from './store.ts';
import { openStepWatches } from './watches.ts';

/** How long a read may take; the server gives up at the same time. */
const LOOK_TIMEOUT_MS = 1_000;

type Scope = ServiceScope<z.output<typeof settings>>;

/** The dependencies of following steps. */
type Parts = Pick<
  StepDeps,
  'workingSet' | 'breaks' | 'requestRepublication' | 'stepStore' | 'onItsWay' | 'clock' | 'logger'
> & {
  readonly breaks: Pick<BreakStore, 'findAll'>;
  readonly messaging: StepDeps['messaging'] & {
    readonly database: Parameters<typeof openCoverageSources>[0];
  };
  readonly store: WorkingStore;
  readonly railFee: RailFee;
};

/** Starts looking for steps of ours that take too long (ADR 42). */
export async function composeSteps(scope: Scope, parts: Parts): Promise<void> {
  const { config } = scope;
  const { messaging, store } = parts;
  const coverageStore = openCoverageStore(messaging.db, store.collection);
  gaugeSteps(scope, parts.stepStore);
  await scope.open(
    'steps',
    startSteps({
      ...parts,
      watches: [
        ...openStepWatches(messaging.database, store.collection, coverageStore),
        watchEntries(store, parts.breaks),
      ],
      sources: openCoverageSources(messaging.database, parts.railFee),
      limitMs: config.STEP_LIMIT_MS,
      requestsMax: config.REPUBLISH_REQUESTS_MAX,
      pauseMs: config.STEP_PAUSE_MS,
    }),
  );
}

function gaugeSteps({ metrics, clock }: Pick<Scope, 'metrics' | 'clock'>, stepStore: StepStore): void {
  const oldest = new Gauge({
    name: 'oldest_overdue_step_seconds',
    help: 'How long the oldest overdue step of a payment has lasted, by step; no value if none is overdue.',
    labelNames: ['step'],
    registers: [metrics],
    collect: async () => {
      const look = stepStore.standing(LOOK_TIMEOUT_MS);
      const standing = await withDeadline(look, LOOK_TIMEOUT_MS, clock).catch(() => []);
      oldest.reset();
      for (const { step, since } of standing)
        oldest.set({ step }, Math.max(0, clock.nowMs() - since.getTime()) / 1_000);
    },
  });
}
