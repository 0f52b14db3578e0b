import { readTrustedProxies } from '@pesewa/addresses';
import { databaseTasks, openEraser, openMessaging } from '@pesewa/messaging';
import { openRails } from '@pesewa/rails';
import { defineService, publicPort, serveHttp } from '@pesewa/runtime';
import { createApp } from './app.ts';
import { reportUnauthenticatedRails } from './callback-authentication.ts';
import { openCallbackRoom } from './callback-room.ts';
import { createCallbacks, createRates } from './callbacks.ts';
import { settings } from './config.ts';
import { callbackDatabaseSchema } from './database-schema.ts';
import { bodiesAndSenders } from './erasures.ts';
import { createMetrics, gaugeFailed } from './metrics.ts';
import { addOperatorRoutes } from './operator.ts';
import { openCallbackStore } from './store.ts';

/** The webhook ingress, as a process runs it. */
export const webhookIngress = defineService({
  name: 'webhook-ingress',
  settings,
  ...databaseTasks('webhook-ingress', callbackDatabaseSchema),
  compose: async (scope) => {
    const { config, logger, clock, metrics: registry } = scope;
    const isProduction = config.NODE_ENV === 'production';
    reportUnauthenticatedRails({ rails: config.RAILS, isProduction, logger, registry });
    const messaging = await openMessaging(scope, {
      service: 'webhook-ingress',
      databaseSchema: callbackDatabaseSchema,
    });
    const store = openCallbackStore(messaging.db, {
      keepDays: config.CALLBACK_KEEP_DAYS,
      unverifiedKeepDays: config.UNVERIFIED_CALLBACK_KEEP_DAYS,
    });
    gaugeFailed({ store, registry, clock });
    await openEraser(scope, messaging, bodiesAndSenders, config.CALLBACK_BODY_KEEP_DAYS);
    const rails = await scope.open('rails', openRails(config.RAILS, { clock, logger }));
    const perSecondMax = config.UNVERIFIED_CALLBACKS_PER_SECOND_MAX;
    const bytesMax = config.UNVERIFIED_CALLBACK_BYTES_MAX;
    const room = await scope.open('callback room', openCallbackRoom({ ...scope, registry, store, bytesMax }));
    const callbacks = createCallbacks({
      ...scope,
      store,
      messaging,
      rail: (name) => rails.get(name),
      repassAfterMs: config.REPASS_AFTER_MS,
      storeTimeoutMs: config.STORE_TIMEOUT_MS,
      isWithinRate: createRates({ clock, rails: config.RAILS, perSecondMax }),
      hasRoom: room.hasRoom,
    });
    addOperatorRoutes(scope.operator, { callbacks, store, logger });
    const app = createApp({
      ...scope,
      callbacks,
      metrics: createMetrics(registry),
      ...readTrustedProxies(config),
    });
    const listening = { ...publicPort(config), requestTimeoutMs: config.REQUEST_TIMEOUT_MS };
    await scope.open('public port', serveHttp({ ...listening, app, requests: scope.requests }));
  },
});
