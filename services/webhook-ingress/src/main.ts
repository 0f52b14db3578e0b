import { openMessaging } from '@pesewa/messaging';
import { openRails } from '@pesewa/rails';
import { runService, serveHttp } from '@pesewa/runtime';
import { createApp } from './app.ts';
import { createCallbacks } from './callbacks.ts';
import { environment, settings } from './config.ts';
import { createCallbackEvents } from './events.ts';
import { createMetrics } from './metrics.ts';
import { addOperatorRoutes } from './operator.ts';
import { openCallbackStore } from './store.ts';

await runService('webhook-ingress', settings, environment, async (scope) => {
  const { config, logger, clock, ids } = scope;
  const messaging = await openMessaging(scope, {
    service: 'webhook-ingress',
    database: 'ingress',
    produces: ['railNotices'],
  });
  const store = await openCallbackStore(messaging.db);
  const rails = await scope.open(openRails(config.RAILS, { clock, logger }));
  const events = createCallbackEvents({ ids, clock });
  const callbacks = createCallbacks({
    store,
    events,
    messaging,
    ids,
    clock,
    logger,
    rail: (name) => rails.get(name),
    repassAfterMs: config.REPASS_AFTER_MS,
  });
  addOperatorRoutes(scope.operator, { callbacks, store, logger });
  const app = createApp({
    callbacks,
    clock,
    logger,
    metrics: createMetrics(scope.metrics),
    storeTimeoutMs: config.STORE_TIMEOUT_MS,
    trustedProxies: config.TRUSTED_PROXIES,
  });
  await scope.open(serveHttp({ app, host: config.HOST, port: config.PORT }));
});
