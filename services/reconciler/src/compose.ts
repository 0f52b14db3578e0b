import { openMessaging } from '@pesewa/messaging';
import type { Rails } from '@pesewa/rails';
import type { ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import { addOperatorRoutes } from './app.ts';
import { openBreakStore } from './breaks.ts';
import { createComparison, scheduleComparison } from './comparison.ts';
import type { settings } from './config.ts';
import { createReconcilerEvents } from './events.ts';
import { createHandlers, expectedFees } from './handlers.ts';
import { createMetrics } from './metrics.ts';
import { startPoller } from './poller.ts';
import { openWorkingStore } from './store.ts';
import { openWalletStore } from './wallets.ts';
import { createWorkingSet } from './working-set.ts';

/** Puts the reconciler together over its rails; everything it opens closes with the scope. */
export async function composeReconciler(
  scope: ServiceScope<z.output<typeof settings>>,
  rails: Pick<Rails, 'all' | 'get'>,
): Promise<void> {
  const { config, logger, clock, random, ids, crashPoint } = scope;
  const messaging = await openMessaging(scope, {
    service: 'reconciler',
    database: 'reconciler',
    produces: ['railNotices', 'reconciliation'],
  });
  const store = await openWorkingStore(messaging.db);
  const [breaks, wallets] = [await openBreakStore(messaging.db), await openWalletStore(messaging.db)];
  const events = createReconcilerEvents({ ids, clock });
  const parts = { store, wallets, breaks, events, messaging, clock, ids, logger, crashPoint };
  const poller = await scope.open(
    startPoller({
      ...parts,
      random,
      rail: rails.get,
      schedule: {
        baseMs: config.POLL_BASE_MS,
        capMs: config.POLL_CAP_MS,
        settleMs: config.CALLBACK_SETTLE_MS,
      },
      notFoundGraceMs: config.NOT_FOUND_GRACE_MS,
      pollsBeforeBreak: config.POLLS_BEFORE_BREAK,
      callDeadlineMs: Math.max(...rails.all.map(({ capabilities }) => capabilities.callDeadlineMs)),
      concurrencyMax: config.POLL_CONCURRENCY_MAX,
      pauseMs: config.POLL_PAUSE_MS,
      polled: createMetrics(scope.metrics, store).polled,
    }),
  );
  const workingSet = createWorkingSet({
    ...parts,
    firstPollAfterMs: config.FIRST_POLL_AFTER_MS,
    becameDue: poller.wake,
  });
  await messaging.consume(createHandlers({ ...parts, workingSet, railFee: expectedFees(rails.get) }));
  const comparison = createComparison({
    ...parts,
    rails: rails.all,
    settleMs: config.COMPARISON_SETTLE_MS,
  });
  await scope.open(scheduleComparison({ ...parts, comparison, interval: config.COMPARISON_INTERVAL }));
  addOperatorRoutes(scope.operator, { ...parts, comparison });
}
