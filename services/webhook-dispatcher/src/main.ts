import { createDirectory } from '@pesewa/directory';
import { openMessaging, prepareDatabase } from '@pesewa/messaging';
import { runService } from '@pesewa/runtime';
import { environment, settings } from './config.ts';
import { startDeliverer } from './deliverer.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import { createDeliveryEvents } from './events.ts';
import { createHandlers } from './handlers.ts';
import { webhookCollections } from './indexes.ts';
import { createLanes } from './lanes.ts';
import { addOperatorRoutes } from './operator.ts';
import { openSender } from './sender.ts';
import { openDeliveryStore } from './store.ts';

const prepare = prepareDatabase('webhook-dispatcher', webhookCollections);

await runService({ name: 'webhook-dispatcher', settings, environment, prepare }, async (scope) => {
  const { config, clock } = scope;
  const messaging = await openMessaging(scope, {
    service: 'webhook-dispatcher',
    collections: webhookCollections,
  });
  const store = openDeliveryStore(messaging.db, config.DELIVERY_KEEP_DAYS);
  const sender = await scope.open(
    openSender({
      allowedOrigins: config.WEBHOOK_ALLOWED_ORIGINS,
      deadlineMs: config.DELIVERY_DEADLINE_MS,
      connectionsPerOriginMax: config.DELIVERY_CONCURRENCY_MAX,
      clock,
    }),
  );
  const deliveries: Deliveries = createDeliveries({
    store,
    messaging,
    clock,
    events: createDeliveryEvents({ clock }),
    becameDue: () => deliverer.wake(),
  });
  const deliverer = await scope.open(
    startDeliverer({
      ...scope,
      store,
      sender,
      deliveries,
      directory: createDirectory({ db: messaging.database('directory'), clock }),
      lanes: createLanes({
        concurrencyMax: config.DELIVERY_CONCURRENCY_PER_ENDPOINT_MAX,
        freed: () => deliverer.wake(),
      }),
      delaysMs: config.RETRY_DELAYS_MS,
      deadlineMs: config.DELIVERY_DEADLINE_MS,
      concurrencyMax: config.DELIVERY_CONCURRENCY_MAX,
      pauseMs: config.DELIVERY_PAUSE_MS,
    }),
  );
  await messaging.consume(createHandlers({ deliveries, clock }));
  addOperatorRoutes(scope.operator, { deliveries, store });
});
