import { openMessaging } from '@pesewa/messaging';
import type { Rails } from '@pesewa/rails';
import type { ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import { addOperatorRoutes } from './app.ts';
import { openBreakStore } from './breaks.ts';
import { createComparison } from './comparison.ts';
import type { settings } from './config.ts';
import { openDecisionStore } from './decision-store.ts';
import { createDecisions } from './decisions.ts';
import { createReconcilerEvents } from './events.ts';
import { createHandlers, expectedFees } from './handlers.ts';
import { createMetrics } from './metrics.ts';
import { startPoller } from './poller.ts';
import { openWorkingStore } from './store.ts';
import { scheduleTurns } from './turns.ts';
import { createUnknownReferences } from './unknown-references.ts';
import { openWalletStore } from './wallets.ts';
import { createWorkingSet } from './working-set.ts';

const DAY_MS = 86_400_000;

type Scope = ServiceScope<z.output<typeof settings>>;

/** Puts the reconciler together over its rails; everything it opens closes with the scope. */
export async function composeReconciler(scope: Scope, rails: Pick<Rails, 'all' | 'get'>): Promise<void> {
  const { config, clock } = scope;
  const parts = await openParts(scope);
  const { messaging, store, breaks, decisionStore } = parts;
  const metrics = createMetrics(scope.metrics, store, breaks, clock);
  const railFee = expectedFees(rails.get);
  const proof = {
    settleMs: config.CALLBACK_SETTLE_MS,
    notFoundGraceMs: config.NOT_FOUND_GRACE_MS,
    pollsBeforeBreak: config.POLLS_BEFORE_BREAK,
  };
  const unknown = createUnknownReferences({
    ...parts,
    openMax: config.UNKNOWN_REFERENCES_OPEN_MAX,
    hidden: metrics.hidden,
  });
  const poller = await scope.open(
    startPoller({
      ...parts,
      ...proof,
      rail: rails.get,
      schedule: {
        baseMs: config.POLL_BASE_MS,
        capMs: config.POLL_CAP_MS,
        settleMs: config.CALLBACK_SETTLE_MS,
      },
      callDeadlineMs: Math.max(...rails.all.map(({ capabilities }) => capabilities.callDeadlineMs)),
      concurrencyMax: config.POLL_CONCURRENCY_MAX,
      pauseMs: config.POLL_PAUSE_MS,
      polled: metrics.polled,
      lookAtUnknown: unknown.lookAt,
    }),
  );
  const workingSet = createWorkingSet({
    ...parts,
    pace: {
      firstPollAfterMs: config.FIRST_POLL_AFTER_MS,
      unknownGraceMs: config.UNKNOWN_REFERENCE_GRACE_MS,
    },
    proof,
    settled: (completed, { session }) => decisionStore.applied(completed, new Date(clock.nowMs()), session),
    becameDue: poller.wake,
  });
  await messaging.consume(createHandlers({ ...parts, workingSet, railFee }));
  const comparison = createComparison({
    ...parts,
    rails: rails.all,
    settleMs: config.COMPARISON_SETTLE_MS,
  });
  await scope.open(
    scheduleTurns({
      ...parts,
      name: 'wallet comparison',
      interval: config.COMPARISON_INTERVAL,
      run: comparison.run,
      taken: () => scope.crashPoint('reconciler.comparison.after-lease'),
    }),
  );
  const decisions = createDecisions({ ...parts, railFee });
  const sharedMayOrder = config.NODE_ENV !== 'production';
  addOperatorRoutes(scope.operator, { ...parts, comparison, decisions, sharedMayOrder });
}

/** What everything else is built of: the road to Kafka, the collections, and what the process is given. */
async function openParts(scope: Scope) {
  const { config, logger, clock, random, ids, crashPoint } = scope;
  const messaging = await openMessaging(scope, {
    service: 'reconciler',
    database: 'reconciler',
    produces: ['railNotices', 'reconciliation'],
  });
  const { db } = messaging;
  const keepMs = config.UNKNOWN_REFERENCE_KEEP_DAYS * DAY_MS;
  return {
    messaging,
    db,
    keepMs,
    store: await openWorkingStore(db, keepMs),
    breaks: await openBreakStore(db),
    wallets: await openWalletStore(db),
    decisionStore: await openDecisionStore(db),
    events: createReconcilerEvents({ ids, clock }),
    logger,
    clock,
    random,
    ids,
    crashPoint,
  };
}
