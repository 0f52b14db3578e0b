import { DAY_MS } from '@pesewa/kernel';
import { openMessaging } from '@pesewa/messaging';
import type { Rails } from '@pesewa/rails';
import { mayBeOperator, type ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import { addOperatorRoutes } from './app.ts';
import { createAdjustments, openAdjustmentStore } from './breaks/adjustments.ts';
import { createBreakLife } from './breaks/life.ts';
import { readSides } from './breaks/sides.ts';
import { openBreakStore } from './breaks/store.ts';
import { composeCloses } from './closes/compose.ts';
import type { settings } from './config.ts';
import { reconcilerDatabaseSchema } from './database-schema.ts';
import { createDecisions } from './decisions/decisions.ts';
import { openDecisionStore } from './decisions/store.ts';
import type { Break } from './domain/break.ts';
import { createHandlers, expectedFees } from './handlers.ts';
import { openWindowPayments } from './matching/payments.ts';
import { createMetrics } from './metrics.ts';
import { createOnItsWay } from './on-its-way.ts';
import { startPoller } from './polling/poller.ts';
import { backOffWhenTurnedAway } from './polling/rail-back-off.ts';
import { openRailRateLimit } from './polling/rail-rate-limit.ts';
import { scheduleJob } from './replica-jobs.ts';
import { composeStatements } from './statements/compose.ts';
import { openStatementStore } from './statements/store.ts';
import { gaugeStanding } from './status/metrics.ts';
import { addStatusRoutes } from './status/routes.ts';
import { openSilentRails } from './status/silent-rails.ts';
import { openStatusStore } from './status/store.ts';
import { startArrivals } from './steps/arrivals.ts';
import { composeSteps } from './steps/compose.ts';
import { lateAfterMs } from './steps/following.ts';
import { openGatewayRecords } from './steps/gateway-records.ts';
import { createRequests } from './steps/request.ts';
import { openStepStore } from './steps/store.ts';
import { openWorkingStore } from './store.ts';
import { type Comparison, createComparison } from './wallets/comparison.ts';
import { openWalletStore } from './wallets/store.ts';
import { openPaymentsAtRail } from './wallets/suspects.ts';
import { createWorkingSet } from './working-set.ts';

type Scope = ServiceScope<z.output<typeof settings>>;

/** Puts the reconciler together over its rails; everything it opens closes with the scope. */
export async function composeReconciler(scope: Scope, rails: Pick<Rails, 'all' | 'get'>): Promise<void> {
  const { config, clock } = scope;
  const parts = await openParts(scope, rails);
  const { messaging, store, decisionStore } = parts;
  const railNames = rails.all.map(({ name }) => name);
  const metrics = createMetrics(scope.metrics, store, clock, railNames);
  const statusStore = openStatusStore(parts.db, store.collection);
  const byStatement = rails.all.flatMap((rail) => (rail.capabilities.sendsStatements ? rail.name : []));
  const payments = openWindowPayments(store.collection, byStatement);
  gaugeStanding({ ...parts, payments, statusStore, registry: scope.metrics, rails: railNames });
  const proof = {
    lagMs: config.CALLBACK_LAG_MS,
    notFoundGraceMs: config.NOT_FOUND_GRACE_MS,
    pollsBeforeBreak: config.POLLS_BEFORE_BREAK,
  };
  const rateLimit = openRailRateLimit(parts.db);
  const [{ acceptedAtMs }] = parts.records;
  const polled = rails.all.map((rail) => backOffWhenTurnedAway({ ...rail, acceptedAtMs }, clock));
  const { arrived } = await scope.open(
    'arrivals',
    startArrivals({
      ...parts,
      limitMs: config.STEP_LIMIT_MS,
      pauseMs: config.STEP_PAUSE_MS,
      registry: scope.metrics,
    }),
  );
  const schedule = { baseMs: config.POLL_BASE_MS, capMs: config.POLL_CAP_MS, lagMs: config.CALLBACK_LAG_MS };
  const asking = { ...proof, schedule, arrived, rails: polled, rateLimit, pauseMs: config.POLL_PAUSE_MS };
  const poller = await scope.open('poller', startPoller({ ...parts, ...metrics, ...asking }));
  const workingSet = createWorkingSet({
    ...parts,
    timing: {
      firstPollAfterMs: config.FIRST_POLL_AFTER_MS,
      booksGraceMs: config.BOOKS_GRACE_MS,
      lateAfterMs: lateAfterMs(config.STEP_LIMIT_MS),
    },
    proof,
    applied: (applied, { session }) => decisionStore.applied(applied, new Date(clock.nowMs()), session),
    claimDue: poller.claimDue,
    ended: metrics.ended,
  });
  await messaging.consume(createHandlers({ ...parts, workingSet, adjustments: createAdjustments(parts) }));
  const comparison = await composeComparison(scope, parts, rails);
  const audit = await composeSteps(scope, { ...parts, workingSet });
  await composeCloses(scope, { ...parts, payments, byStatement, proof, schedule }, polled, rateLimit);
  const decisions = createDecisions(parts);
  const life = createBreakLife({
    ...parts,
    aloneUpTo: config.BREAKS_RESOLVED_ALONE_UP_TO,
    isOperator: (name) => mayBeOperator(config, name),
  });
  await composeStatements(scope, { ...parts, payments, railNames, byStatement });
  addStatusRoutes(scope.operator, { ...parts, payments, statusStore, audit, railNames });
  addOperatorRoutes(scope.operator, { ...parts, comparison, decisions, life, railNames });
}

/** The comparison of wallets, and its schedule. */
async function composeComparison(
  scope: Scope,
  parts: Awaited<ReturnType<typeof openParts>>,
  rails: Pick<Rails, 'all'>,
): Promise<Comparison> {
  const { config } = scope;
  const comparison = createComparison({
    ...parts,
    rails: rails.all.map(parts.silentRails.noting),
    pauseMs: config.COMPARISON_PAUSE_MS,
    unexplainedMaxMs: config.COMPARISON_UNEXPLAINED_MAX_MS,
    openMaxMs: config.COMPARISON_OPEN_MAX_MS,
  });
  const comparing = scheduleJob({
    ...parts,
    name: 'wallet comparison',
    interval: config.COMPARISON_INTERVAL,
    run: comparison.run,
    taken: () => scope.crashPoint('reconciler.comparison.after-lease'),
  });
  await scope.open('schedule of the wallet comparison', comparing);
  return comparison;
}

/** The parts that everything else is built from: messaging, the stores, and what the process provides. */
async function openParts(scope: Scope, rails: Pick<Rails, 'get'>) {
  const { config, logger, clock, random, ids, crashPoint } = scope;
  const messaging = await openMessaging(scope, {
    service: 'reconciler',
    databaseSchema: reconcilerDatabaseSchema,
    sharesTransactions: true,
  });
  const { db } = messaging;
  const store = openWorkingStore(db, {
    paymentMs: config.PAYMENT_KEEP_DAYS * DAY_MS,
    unknownMs: config.UNKNOWN_REFERENCE_KEEP_DAYS * DAY_MS,
  });
  const railFee = expectedFees(rails.get);
  const wallets = openWalletStore(db);
  const statementStore = openStatementStore(db);
  return {
    messaging,
    db,
    store,
    railFee,
    records: openGatewayRecords(messaging.database, railFee),
    stepStore: openStepStore(db),
    onItsWay: createOnItsWay({ messaging, clock, logger }),
    breaks: openBreakStore(db),
    wallets,
    statementStore,
    sidesOf: (found: Break) => readSides({ store, wallets, statementStore }, found),
    silentRails: openSilentRails(db, clock),
    payments: openPaymentsAtRail(db),
    decisionStore: openDecisionStore(db),
    adjustmentStore: openAdjustmentStore(db),
    requestRepublication: createRequests(scope.metrics, clock),
    logger,
    clock,
    random,
    ids,
    crashPoint,
  };
}
