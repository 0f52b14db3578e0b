import { createDirectory } from '@pesewa/directory';
import { type Messaging, openMessaging } from '@pesewa/messaging';
import { type Rails, readResubmitGraceMs } from '@pesewa/rails';
import type { ServiceScope } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { z } from 'zod';
import type { AcceptanceDeps } from './acceptance.ts';
import type { AppEnv } from './answers.ts';
import { createApp } from './app.ts';
import { openBalances } from './balances.ts';
import { openBatchStore } from './batch-store.ts';
import { createBatches } from './batches.ts';
import type { settings } from './config.ts';
import { startDecidedEnds } from './decided-ends.ts';
import { createPayoutEvents } from './events.ts';
import { createFlagUrl } from './flags.ts';
import { createHandlers } from './handlers.ts';
import { createNameEnquiry } from './name-enquiry.ts';
import { addPaymentRoutes } from './payment-routes.ts';
import { createPayouts, type Payouts } from './payouts.ts';
import { openListingStore } from './processor-listings.ts';
import { openProcessors } from './processors.ts';
import { createRateLimits } from './rate-limits.ts';
import { openPayoutStore } from './store.ts';
import { startSubmitter } from './submitter.ts';
import { openUsageStore } from './usage.ts';

type Scope = ServiceScope<z.output<typeof settings>>;

/** Puts the payout gateway together over its rails and gives its API; everything it opens closes with the scope. */
export async function composeGateway(scope: Scope, rails: Rails): Promise<Hono<AppEnv>> {
  const { config, logger, clock, ids } = scope;
  const messaging = await openMessaging(scope, {
    service: 'payout-gateway',
    database: 'payouts',
    produces: ['payouts'],
  });
  const { db } = messaging;
  const balances = openBalances({ db, clock, logger });
  const processors = await scope.open(
    openProcessors({
      rails,
      store: openListingStore(db),
      ttlMs: config.PROCESSORS_TTL_MS,
      clock,
      logger,
    }),
  );
  const accepting: AcceptanceDeps = {
    store: await openPayoutStore(db),
    usage: await openUsageStore(db),
    batchStore: openBatchStore(db),
    events: createPayoutEvents({ ids, clock }),
    messaging,
    clock,
    ids,
    routePayout: processors.route,
    canSpend: balances.canSpend,
  };
  const payouts = createPayouts({
    ...accepting,
    refused: (refusal, reference) => logger.debug({ refusal, reference }, 'nothing to do for a payout'),
  });
  const becameDue = await startSubmitting(scope, { rails, messaging, store: accepting.store, payouts });
  const resubmitGraceMs = readResubmitGraceMs(config, rails.all);
  await messaging.consume(createHandlers({ payouts, balances, clock, resubmitGraceMs, becameDue }));
  addPaymentRoutes(scope.operator, accepting.store);
  return createApp({
    payouts,
    batches: createBatches(accepting),
    identify: createDirectory({ db: messaging.database('directory'), clock }).identify,
    inquiries: {
      balances,
      processors,
      enquireName: createNameEnquiry({ route: processors.route, rail: rails.get, logger }),
      flagUrl: createFlagUrl(config.PUBLIC_URL ?? `http://127.0.0.1:${config.PORT}`),
    },
    rateLimits: createRateLimits(),
    logger,
  });
}

async function startSubmitting(
  scope: Scope,
  parts: {
    readonly rails: Rails;
    readonly messaging: Messaging;
    readonly store: AcceptanceDeps['store'];
    readonly payouts: Payouts;
  },
): Promise<() => void> {
  const { config, clock, ids, logger, crashPoint } = scope;
  const { rails, ...rest } = parts;
  const submitter = await scope.open(
    startSubmitter({
      ...rest,
      clock,
      ids,
      logger,
      crashPoint,
      rails: rails.all,
      concurrencyMax: config.SUBMIT_CONCURRENCY_MAX,
      pauseMs: config.SUBMIT_PAUSE_MS,
    }),
  );
  await scope.open(
    startDecidedEnds({
      ...rest,
      clock,
      ids,
      logger,
      resubmitGraceMs: readResubmitGraceMs(config, rails.all),
      pauseMs: config.SUBMIT_PAUSE_MS,
    }),
  );
  return submitter.wake;
}
