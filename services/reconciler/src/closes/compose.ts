import type { ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import type { settings } from '../config.ts';
import type { WindowPayments } from '../matching/payments.ts';
import type { PolledRail } from '../polling/polled-rail.ts';
import { closeRateLimit, closesPerSecond, type RailRateLimit } from '../polling/rail-rate-limit.ts';
import { type ReplicaJob, scheduleJob } from '../replica-jobs.ts';
import { type AskingDeps, startAsking } from './asking.ts';
import { createCloses } from './closes.ts';
import { type DrivingDeps, startCloses } from './driving.ts';
import { createCloseMetrics } from './metrics.ts';
import { addCloseRoutes } from './routes.ts';
import { openCloseStore } from './store.ts';

type Parts = Pick<
  AskingDeps,
  'store' | 'breaks' | 'clock' | 'random' | 'ids' | 'logger' | 'crashPoint' | 'proof' | 'schedule'
> & {
  readonly messaging: DrivingDeps['messaging'] & ReplicaJob['messaging'];
  readonly payments: WindowPayments;
  readonly byStatement: readonly string[];
};

/** Puts the daily close together (ADR 29); everything it opens closes with the scope. */
export async function composeCloses(
  scope: ServiceScope<z.output<typeof settings>>,
  parts: Parts,
  rails: readonly PolledRail[],
  rateLimit: RailRateLimit,
): Promise<void> {
  const { config, clock } = scope;
  const closeStore = openCloseStore(parts.messaging.db);
  const metrics = createCloseMetrics(scope.metrics);
  const pauseMs = config.POLL_PAUSE_MS;
  const asking = await scope.open(
    'asking of closes',
    startAsking({
      ...parts,
      closeStore,
      rails,
      rateLimitOf: ({ name, capabilities }) =>
        closeRateLimit(rateLimit, name, {
          perSecondMax: config.CLOSE_POLLS_PER_SECOND,
          railPerSecond: capabilities.polling.perSecondMax,
        }),
      triesMax: config.CLOSE_TRIES_MAX,
      pauseMs,
      finished: metrics.finished,
    }),
  );
  const driving = await scope.open(
    'driving of closes',
    startCloses({ ...parts, closeStore, gathered: asking.wake, pauseMs }),
  );
  const closes = createCloses({
    ...parts,
    closeStore,
    clock,
    lagMs: config.CLOSE_LAG_MS,
    keepDays: config.CLOSE_KEEP_DAYS,
    opened: driving.wake,
  });
  await scope.open(
    'schedule of the daily close',
    scheduleJob({ ...parts, name: 'daily close', interval: config.CLOSE_INTERVAL, run: closes.openDue }),
  );
  addCloseRoutes(scope.operator, {
    closes,
    store: closeStore,
    railNames: rails.map(({ name }) => name),
    closeLagMs: config.CLOSE_LAG_MS,
    perSecondOf: (rail) => {
      const polling = rails.find(({ name }) => name === rail)?.capabilities.polling;
      return closesPerSecond(config.CLOSE_POLLS_PER_SECOND, polling?.perSecondMax ?? Infinity);
    },
  });
}
