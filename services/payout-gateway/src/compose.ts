import { readTrustedProxies } from '@pesewa/addresses';
import { createDirectory } from '@pesewa/directory';
import { type AppEnv, openUsageStore } from '@pesewa/merchant-api';
import { type Messaging, openEraser, openMessaging } from '@pesewa/messaging';
import { addAvailability, addPauses, addPaymentRoutes, type IsPaused } from '@pesewa/payments';
import { type Rails, readResubmitGraceMs, takesPayouts } from '@pesewa/rails';
import type { ServiceScope } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { z } from 'zod';
import { type AppDeps, createApp, createRateLimits } from './app.ts';
import { openBalances } from './balances.ts';
import { createBatches } from './batches.ts';
import { addCancellationRoutes } from './cancellations.ts';
import type { settings } from './config.ts';
import { createFlagUrl } from './country-flags.ts';
import { payoutDatabaseSchema } from './database-schema.ts';
import { startDecisionApplier } from './decision-applier.ts';
import { personalData } from './erasures.ts';
import { createHandlers } from './handlers.ts';
import { marksOf } from './marks.ts';
import { countRequests, gaugeOldestHeld } from './metrics.ts';
import { createNameEnquiry } from './name-enquiry.ts';
import { requireCurrentDatabase } from './older-database.ts';
import { viewPayout } from './operator-view.ts';
import { createPayouts, type Payouts, type RequestDeps } from './payouts.ts';
import { openListingStore, openProcessors, type Processors } from './processors.ts';
import { openPayoutStore, type PayoutStore } from './store.ts';
import { type Submitter, startSubmitter } from './submitter.ts';
import { openWalletStatements } from './wallet-statements.ts';
import { createWhyWaiting } from './why-waiting.ts';

type Scope = ServiceScope<z.output<typeof settings>>;

/** Puts the payout gateway together over its rails; gives its API. Everything it opens closes with the scope. */
export async function composeGateway(scope: Scope, rails: Rails): Promise<Hono<AppEnv>> {
  const { config, logger, clock, ids } = scope;
  const messaging = await openMessaging(scope, {
    service: 'payout-gateway',
    databaseSchema: payoutDatabaseSchema,
    batchesShareTransactions: true,
  });
  const { db } = messaging;
  const balances = openBalances({ db, clock, logger });
  const listing = { store: openListingStore(db), ttlMs: config.PROCESSORS_TTL_MS, clock, logger };
  const processors = await scope.open('processors', openProcessors({ ...listing, rails }));
  const store = openPayoutStore(db);
  const current = requireCurrentDatabase({ messaging, store, marks: marksOf(db), clock, logger });
  await scope.open('mark of a current database', current);
  const directory = createDirectory({ db: messaging.database('directory'), clock });
  const payoutRails = rails.all.filter(takesPayouts);
  const isPaused = await addPauses(scope, messaging, { rails: payoutRails, findMerchant: directory.find });
  const requesting: RequestDeps = {
    store,
    usage: openUsageStore(db),
    messaging,
    clock,
    ids,
    routePayout: processors.route,
    canSpend: balances.canSpend,
    isPaused,
  };
  const payouts = createPayouts({
    ...requesting,
    nothingToDo: (refusal, reference) => logger.debug({ refusal, reference }, 'nothing to do for a payout'),
  });
  const submitter = await startLoops(scope, { rails, messaging, store, payouts, isPaused });
  const resubmitGraceMs = readResubmitGraceMs(config, rails.all);
  await messaging.consume(
    createHandlers({
      ...requesting,
      payouts,
      balances,
      resubmitGraceMs,
      claimDue: submitter.claimDue,
      becameDue: submitter.wake,
    }),
  );
  const whyWaiting = createWhyWaiting({ isPaused, rail: rails.get });
  addPaymentRoutes(scope.operator, store, {
    prefix: 'po',
    view: (payout) => viewPayout(payout, whyWaiting),
    merchantIds: directory.ids,
  });
  const batches = createBatches(requesting);
  const counted = countRequests(scope.metrics);
  return createApp({
    payouts: { ...payouts, request: counted('single', payouts.request) },
    batches: { ...batches, request: counted('batch', batches.request) },
    lists: { store },
    whyWaiting,
    statements: openStatements(scope, messaging),
    identify: directory.identify,
    proxies: readTrustedProxies(config),
    inquiries: await openInquiries(scope, rails, { messaging, isPaused, balances, processors }),
    rateLimits: createRateLimits(),
    clock,
    logger,
  });
}

async function openInquiries(
  scope: Scope,
  rails: Rails,
  {
    messaging,
    isPaused,
    ...parts
  }: Pick<AppDeps['inquiries'], 'balances'> & {
    readonly messaging: Messaging;
    readonly isPaused: IsPaused;
    readonly processors: Processors;
  },
): Promise<AppDeps['inquiries']> {
  const { config, logger } = scope;
  return {
    ...parts,
    routes: routesOf(rails),
    availability: await openAvailability(scope, rails, { messaging, isPaused }),
    enquireName: createNameEnquiry({ route: parts.processors.route, rail: rails.get, logger }),
    flagUrl: createFlagUrl(config.PUBLIC_URL ?? `http://127.0.0.1:${config.PORT}`),
  };
}

/** Each route once, which several rails may serve. */
function routesOf({ all }: Pick<Rails, 'all'>) {
  const routes = all
    .filter(takesPayouts)
    .flatMap(({ payouts }) =>
      payouts.routes.flatMap(({ channels, ...route }) => channels.map((channel) => ({ ...route, channel }))),
    );
  return [...new Map(routes.map((way) => [JSON.stringify(way), way])).values()];
}

/** Measures each rail, and for merchants each route, which several rails may serve. */
function openAvailability(
  scope: Scope,
  { all, railsFor }: Rails,
  parts: { readonly messaging: Messaging; readonly isPaused: IsPaused },
) {
  const rails = all.filter(takesPayouts);
  return addAvailability(
    scope,
    { ...parts, collection: 'payouts', prefix: 'po' },
    {
      operators: rails.map((rail) => ({ rail })),
      merchants: routesOf({ all }).map((way) => ({ way, rails: railsFor(way) })),
    },
  );
}

function openStatements({ clock }: Scope, { db, database }: Messaging) {
  const [ledger, collections] = [database('ledger'), database('collections')];
  return openWalletStatements({ ledger, payouts: db, collections, clock });
}

async function startLoops(
  scope: Scope,
  parts: {
    readonly rails: Rails;
    readonly messaging: Messaging;
    readonly store: PayoutStore;
    readonly payouts: Payouts;
    readonly isPaused: IsPaused;
  },
): Promise<Submitter> {
  const { config, clock } = scope;
  const { rails, ...rest } = parts;
  const payoutRails = rails.all.filter(takesPayouts);
  const railNames = payoutRails.map(({ name }) => name);
  gaugeOldestHeld({ store: parts.store, rails: railNames, registry: scope.metrics, clock });
  const submitter = await scope.open(
    'submitter',
    startSubmitter({
      ...scope,
      ...rest,
      rails: payoutRails,
      concurrencyMax: config.SUBMIT_CONCURRENCY_MAX,
      pauseMs: config.SUBMIT_PAUSE_MS,
    }),
  );
  const decisions = await scope.open(
    'decision applier',
    startDecisionApplier({
      ...scope,
      ...rest,
      resubmitGraceMs: readResubmitGraceMs(config, rails.all),
      pauseMs: config.SUBMIT_PAUSE_MS,
    }),
  );
  addCancellationRoutes(scope.operator, { ...scope, ...rest, apply: decisions.apply });
  await openEraser(scope, rest.messaging, personalData, config.PERSONAL_DATA_KEEP_DAYS);
  return submitter;
}
