import { DAY_MS } from '@pesewa/kernel';
import { openMessaging } from '@pesewa/messaging';
import type { Rails } from '@pesewa/rails';
import { mayBeOperator, type ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import { createBreakChange, createCorrections } from './breaks/life.ts';
import { addBreakRoutes } from './breaks/routes.ts';
import { readSides } from './breaks/sides.ts';
import { openBreakStore } from './breaks/store.ts';
import { startAsking } from './closes/asking.ts';
import { createCloses } from './closes/closes.ts';
import { startCloses } from './closes/driving.ts';
import { addCloseRoutes } from './closes/routes.ts';
import { openCloseStore } from './closes/store.ts';
import type { settings } from './config.ts';
import { reconcilerDatabaseSchema } from './database-schema.ts';
import { createDecisions } from './decisions/decisions.ts';
import { addDecisionRoutes } from './decisions/routes.ts';
import { openDecisionStore } from './decisions/store.ts';
import type { Break } from './domain/break.ts';
import { createHandlers, expectedFees } from './handlers.ts';
import { openWindowPayments } from './matching/payments.ts';
import { createMetrics } from './metrics.ts';
import { createMarkWaiting } from './on-its-way.ts';
import { startPoller } from './polling/poller.ts';
import { backOffWhenTurnedAway } from './polling/rail-back-off.ts';
import { closeRateLimit, openRailRateLimit } from './polling/rail-rate-limit.ts';
import { addPollRoutes } from './polling/routes.ts';
import { scheduleJob } from './replica-jobs.ts';
import { addStatementRoutes, type MappingDocument } from './statements/routes.ts';
import { startStatements } from './statements/statements.ts';
import { openStatementStore } from './statements/store.ts';
import { gaugeStanding } from './status/metrics.ts';
import { addStatusRoutes } from './status/routes.ts';
import { createStanding } from './status/standing.ts';
import { openStatusStore } from './status/store.ts';
import { addTimelineRoutes } from './status/timeline.ts';
import { type Arrivals, startArrivals } from './steps/arrivals.ts';
import { type Audit, addAuditRoutes, createAudit } from './steps/audit.ts';
import { lateAfterMs } from './steps/following.ts';
import { openGatewayRecords } from './steps/gateway-records.ts';
import { createRequests } from './steps/request.ts';
import { startSteps } from './steps/steps.ts';
import { openStepStore } from './steps/store.ts';
import { watchEntries, watchOpen, watchWebhooks } from './steps/watches.ts';
import { openWorkingStore } from './store.ts';
import { type Comparison, createComparison } from './wallets/comparison.ts';
import { addWalletRoutes } from './wallets/routes.ts';
import { openWalletStore } from './wallets/store.ts';
import { openPaymentsAtRail } from './wallets/suspects.ts';
import { createWorkingSet, type WorkingSet } from './working-set.ts';

type Scope = ServiceScope<z.output<typeof settings>>;

type Parts = Awaited<ReturnType<typeof openParts>>;

/** Puts the reconciler together over its rails; everything it opens closes with the scope. */
export async function composeReconciler(scope: Scope, rails: Pick<Rails, 'all' | 'get'>): Promise<void> {
  const { config, clock } = scope;
  const parts = await openParts(scope, rails);
  const { messaging, store, decisionStore, railNames, windowPayments } = parts;
  const metrics = createMetrics(scope.metrics);
  const arriving = { limitMs: config.STEP_LIMIT_MS, pauseMs: config.STEP_PAUSE_MS, registry: scope.metrics };
  const arrivals = await scope.open('arrivals', startArrivals({ ...parts, ...arriving }));
  const asking = { rails: parts.polledRails, pauseMs: config.POLL_PAUSE_MS };
  const poller = await scope.open('poller', startPoller({ ...parts, ...metrics, ...arrivals, ...asking }));
  const workingSet = createWorkingSet({
    ...parts,
    timing: {
      firstPollAfterMs: config.FIRST_POLL_AFTER_MS,
      booksGraceMs: config.BOOKS_GRACE_MS,
      lateAfterMs: lateAfterMs(config.STEP_LIMIT_MS),
    },
    applied: (applied, { session }) => decisionStore.applied(applied, new Date(clock.nowMs()), session),
    claimDue: poller.claimDue,
  });
  messaging.showWaiting({ decisions: decisionStore.countProposed });
  await messaging.consume(createHandlers({ ...parts, workingSet, corrections: createCorrections(parts) }));
  const comparison = await composeComparison(scope, parts, rails);
  const audit = await composeSteps(scope, parts, { ...arrivals, workingSet });
  await composeCloses(scope, parts);
  const decisions = createDecisions(parts);
  const changeBreak = createBreakChange({
    ...parts,
    aloneUpTo: config.BREAKS_RESOLVED_ALONE_UP_TO,
    isOperator: (name) => mayBeOperator(config, name),
  });
  await composeStatements(scope, parts);
  const statusStore = openStatusStore(parts.db, store.collection);
  const standing = createStanding({ ...parts, payments: windowPayments, statusStore, audit });
  gaugeStanding(scope.metrics, standing, railNames, clock);
  addStatusRoutes(scope.operator, { standing, railNames });
  addWalletRoutes(scope.operator, { ...parts, comparison });
  addTimelineRoutes(scope.operator, parts);
  addPollRoutes(scope.operator, parts);
  addBreakRoutes(scope.operator, { ...parts, decisions, changeBreak });
  addDecisionRoutes(scope.operator, { ...parts, decisions });
}

/** The steps that take too long, and the audit that looks at all open payments again. */
async function composeSteps(
  scope: Scope,
  parts: Parts,
  further: Pick<Arrivals, 'arrivedUntilMs'> & { readonly workingSet: WorkingSet },
): Promise<Audit> {
  const { config } = scope;
  const { messaging, store } = parts;
  const { STEP_LIMIT_MS: limitMs, BOOKS_GRACE_MS: graceMs } = config;
  const audit = createAudit(parts.stepStore, scope.clock);
  const steps = {
    ...parts,
    ...further,
    watches: [
      ...parts.records.map((gateway) => watchOpen(gateway, store.collection, limitMs)),
      watchWebhooks(messaging.database('webhooks').collection('deliveries'), store.collection, limitMs),
      watchEntries('payout', store, graceMs),
      watchEntries('collection', store, graceMs),
    ],
    requestsMax: config.REPUBLISH_REQUESTS_MAX,
    pauseMs: config.STEP_PAUSE_MS,
  };
  await scope.open('steps', startSteps(steps));
  await parts.scheduleRun('audit', config.COVERAGE_INTERVAL, audit.start);
  addAuditRoutes(scope.operator, audit);
  return audit;
}

/** The daily close (ADR 29). */
async function composeCloses(scope: Scope, parts: Parts): Promise<void> {
  const { config } = scope;
  const { polledRails: rails, rateLimit, windowPayments: payments } = parts;
  const closeStore = openCloseStore(parts.db);
  const perSecondMax = config.CLOSE_POLLS_PER_SECOND;
  const ofCloses = { ...parts, closeStore, payments, rails, pauseMs: config.POLL_PAUSE_MS };
  await scope.open(
    'asking of closes',
    startAsking({
      ...ofCloses,
      rateLimitOf: ({ name, capabilities }) => {
        const railPerSecond = capabilities.polling.perSecondMax;
        return closeRateLimit(rateLimit, name, { perSecondMax, railPerSecond });
      },
      triesMax: config.CLOSE_TRIES_MAX,
    }),
  );
  const driving = await scope.open('driving of closes', startCloses(ofCloses));
  const closes = createCloses({
    ...ofCloses,
    lagMs: config.CLOSE_LAG_MS,
    keepDays: config.CLOSE_KEEP_DAYS,
    opened: driving.wake,
  });
  await parts.scheduleRun('daily close', config.CLOSE_INTERVAL, closes.openDue);
  addCloseRoutes(scope.operator, { closes, store: closeStore, railNames: parts.railNames });
}

/** The statements of rails. */
async function composeStatements(scope: Scope, parts: Parts): Promise<void> {
  const { config } = scope;
  const statements = await scope.open(
    'statements',
    startStatements({
      ...parts,
      payments: parts.windowPayments,
      limits: { bytesMax: config.STATEMENT_BYTES_MAX, linesMax: config.STATEMENT_LINES_MAX },
      breaksMax: config.STATEMENT_BREAKS_MAX,
      keepMs: config.STATEMENT_KEEP_DAYS * DAY_MS,
    }),
  );
  const lookForLate = () => statements.lookForLate(parts.byStatement);
  await parts.scheduleRun('late ends of statements', config.CLOSE_INTERVAL, lookForLate);
  const mappings = parts.db.collection<MappingDocument>('statement_mappings');
  addStatementRoutes(scope.operator, { ...parts, statements, mappings });
}

/** The comparison of wallets, and its schedule. */
async function composeComparison(scope: Scope, parts: Parts, rails: Pick<Rails, 'all'>): Promise<Comparison> {
  const { config } = scope;
  const comparison = createComparison({
    ...parts,
    rails: rails.all,
    pauseMs: config.COMPARISON_PAUSE_MS,
    unexplainedMaxMs: config.COMPARISON_UNEXPLAINED_MAX_MS,
  });
  await parts.scheduleRun('wallet comparison', config.COMPARISON_INTERVAL, () => {
    scope.crashPoint('reconciler.comparison.after-lease');
    return comparison.run();
  });
  return comparison;
}

/** The parts that everything else is built from: messaging, the stores, and what the process provides. */
async function openParts(scope: Scope, rails: Pick<Rails, 'all' | 'get'>) {
  const { config, logger, clock } = scope;
  const messaging = await openMessaging(scope, {
    service: 'reconciler',
    databaseSchema: reconcilerDatabaseSchema,
    batchesShareTransactions: true,
  });
  const { db } = messaging;
  const store = openWorkingStore(db, {
    paymentMs: config.PAYMENT_KEEP_DAYS * DAY_MS,
    unknownMs: config.UNKNOWN_REFERENCE_KEEP_DAYS * DAY_MS,
  });
  const railFee = expectedFees(rails.get);
  const wallets = openWalletStore(db);
  const statementStore = openStatementStore(db);
  const records = openGatewayRecords(messaging.database, railFee);
  const [{ findTakenOnAtMs }] = records;
  const byStatement = rails.all.flatMap((rail) => (rail.capabilities.sendsStatements ? rail.name : []));
  const lagMs = config.CALLBACK_LAG_MS;
  /** Runs work by a cron expression, on one replica at a time. */
  const scheduleRun = (name: string, interval: string, run: () => Promise<unknown>) =>
    scope.open(`schedule of the ${name}`, scheduleJob({ name, interval, run, messaging, logger }));
  return {
    ...scope,
    messaging,
    db,
    store,
    railFee,
    railNames: rails.all.map(({ name }) => name),
    /** The rails whose statement is their close. */
    byStatement,
    polledRails: rails.all.map((rail) => backOffWhenTurnedAway({ ...rail, findTakenOnAtMs }, clock)),
    rateLimit: openRailRateLimit(db),
    schedule: { baseMs: config.POLL_BASE_MS, capMs: config.POLL_CAP_MS, lagMs },
    proof: { lagMs, notFoundGraceMs: config.NOT_FOUND_GRACE_MS, pollsBeforeBreak: config.POLLS_BEFORE_BREAK },
    records,
    stepStore: openStepStore(db),
    markWaiting: createMarkWaiting({ messaging, clock, logger }),
    breaks: openBreakStore(db),
    wallets,
    statementStore,
    sidesOf: (found: Break) => readSides({ store, wallets, statementStore }, found),
    payments: openPaymentsAtRail(db),
    windowPayments: openWindowPayments(store.collection, byStatement),
    decisionStore: openDecisionStore(db),
    requestRepublication: createRequests(scope.metrics, clock),
    scheduleRun,
  };
}
