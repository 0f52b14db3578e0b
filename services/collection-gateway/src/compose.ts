import { checkAddress, readTrustedProxies } from '@pesewa/addresses';
import { mobileOperators } from '@pesewa/contracts';
import { createDirectory } from '@pesewa/directory';
import { type AppEnv, createRateLimiter, openUsageStore } from '@pesewa/merchant-api';
import { CLOCK_SKEW_MAX_MS, type Messaging, openEraser, openMessaging } from '@pesewa/messaging';
import {
  addAvailability,
  addPauses,
  addPaymentRoutes,
  createOutcomeRecorder,
  type IsPaused,
} from '@pesewa/payments';
import { type Rails, readResubmitGraceMs, takesCollections } from '@pesewa/rails';
import type { ServiceScope } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { z } from 'zod';
import { createAnswerDeadline } from './answer-deadline.ts';
import { createApp } from './app.ts';
import { createCollections } from './collections.ts';
import { type Completer, createCompleter } from './completer.ts';
import type { settings } from './config.ts';
import { collectionDatabaseSchema } from './database-schema.ts';
import { personalData } from './erasures.ts';
import { createHandlers } from './handlers.ts';
import { createInitiate, startInitiator } from './initiator.ts';
import { createMetrics } from './metrics.ts';
import { viewCollection } from './operator-view.ts';
import { openCollectionStore } from './store.ts';

/** The collection gateway over its rails. */
interface Gateway {
  readonly app: Hono<AppEnv>;
  /** Disposed of early if requests take long to end, so that no request waits for the lock while the server drains. */
  readonly completer: Completer;
}

/** Puts the collection gateway together; everything it opens closes with the scope. */
export async function composeGateway(
  scope: ServiceScope<z.output<typeof settings>>,
  rails: Rails,
): Promise<Gateway> {
  const { config, logger, clock, ids, crashPoint } = scope;
  const messaging = await openMessaging(scope, {
    service: 'collection-gateway',
    databaseSchema: collectionDatabaseSchema,
    batchesShareTransactions: true,
  });
  const store = openCollectionStore(messaging.db);
  // The first attempt's time is from our own clock, a poll's from the database's.
  const resubmitGraceMs = readResubmitGraceMs(config, rails.all) + CLOCK_SKEW_MAX_MS;
  const deadline = createAnswerDeadline({ deadlineMs: config.RAIL_DEADLINE_MS, clock, logger });
  const answerDeadline = await scope.open('answerDeadline', deadline);
  const metrics = createMetrics(scope.metrics, store, clock);
  const directory = createDirectory({ db: messaging.database('directory'), clock });
  const pausable = { rails: rails.all.filter(takesCollections), findMerchant: directory.find };
  const isPaused = await addPauses(scope, messaging, pausable);
  const collections = createCollections({
    store,
    usage: openUsageStore(messaging.db),
    messaging,
    metrics,
    isPaused,
    collectionsPerNumberPerHour: config.COLLECTIONS_PER_NUMBER_PER_HOUR,
    clock,
    ids,
    routeRail: (operatorCode) => rails.routeCollection({ operatorCode }),
    refused: (refusal, reference) => logger.info({ refusal, reference }, 'nothing to do for a collection'),
  });
  const recorder = createOutcomeRecorder({ clock, logger, thenAsks: 'status check' });
  const outside = { collections, recorder, rail: rails.get, isPaused, metrics, clock, logger, crashPoint };
  const initiate = createInitiate(outside);
  const completer = createCompleter({
    ...outside,
    messaging,
    answerDeadline,
    otpTriesPerNumberPerHour: config.OTP_TRIES_PER_NUMBER_PER_HOUR,
    merchantOtpTriesPerNumberPerHour: config.MERCHANT_OTP_TRIES_PER_NUMBER_PER_HOUR,
  });
  const initiator = startInitiator({
    ...outside,
    store,
    initiate,
    ids,
    initiateForMs: config.INITIATE_FOR_MS,
    concurrencyMax: config.INITIATE_CONCURRENCY_MAX,
    pauseMs: config.INITIATE_PAUSE_MS,
  });
  await scope.open('initiator', initiator);
  await messaging.consume(createHandlers({ collections, store, resubmitGraceMs, becameDue: initiator.wake }));
  await openEraser(scope, messaging, personalData, config.PERSONAL_DATA_KEEP_DAYS);
  addPaymentRoutes(scope.operator, store, { prefix: 'co', view: viewCollection, merchantIds: directory.ids });
  const requests = createRateLimiter(1);
  const app = createApp({
    collections,
    store,
    ...(await openOperators(scope, rails, { messaging, isPaused })),
    initiate,
    complete: completer.complete,
    answerDeadline,
    identify: directory.identify,
    proxies: readTrustedProxies(config),
    limitRequest: ({ id, limits }) => requests(id, limits.requestsPerSecond),
    mayBeCalled: (webhookUrl) => checkAddress(webhookUrl, config.WEBHOOK_ALLOWED_ORIGINS).ok,
    clock,
    logger,
  });
  return { app, completer };
}

/** What merchants are told of the mobile operators that collections are routed to. */
async function openOperators(
  scope: ServiceScope<object>,
  rails: Rails,
  parts: { readonly messaging: Messaging; readonly isPaused: IsPaused },
) {
  const operators = mobileOperators.filter(({ code }) => rails.routeCollection({ operatorCode: code }));
  return { operators, availability: await openAvailability(scope, rails, parts) };
}

/** Measures each rail and mobile operator there, and for merchants each mobile operator. */
function openAvailability(
  scope: ServiceScope<object>,
  { all, routeCollection }: Rails,
  parts: { readonly messaging: Messaging; readonly isPaused: IsPaused },
) {
  const rails = all.filter(takesCollections);
  const operators = rails.flatMap((rail) => [
    { rail },
    ...rail.collections.operatorCodes.map((operatorCode) => ({ rail, operatorCode })),
  ]);
  const codes = new Set(rails.flatMap(({ collections }) => collections.operatorCodes));
  const merchants = [...codes].map((operatorCode) => {
    const rail = routeCollection({ operatorCode });
    return { way: { operatorCode }, rails: rail ? [rail] : [] };
  });
  return addAvailability(
    scope,
    { ...parts, collection: 'collections', prefix: 'co' },
    { operators, merchants },
  );
}
