import { createDirectory } from '@pesewa/directory';
import { openMessaging } from '@pesewa/messaging';
import type { ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import type { settings } from './config.ts';
import { webhookDatabaseSchema } from './database-schema.ts';
import { startDeliverer } from './deliverer.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import { createEndpointHealth } from './endpoint-health.ts';
import { readsForPeople } from './endpoint-list.ts';
import { startEndpointWatch } from './endpoint-watch.ts';
import { createHandlers } from './handlers.ts';
import { openHealthStore } from './health-store.ts';
import { createInspections } from './inspections.ts';
import { createDeliveryMetrics } from './metrics.ts';
import { addOperatorRoutes } from './operator.ts';
import { openSender } from './sender.ts';
import { openDeliveryStore } from './store.ts';

/** Puts the dispatcher together; everything it opens closes with the scope. */
export async function composeDispatcher(scope: ServiceScope<z.output<typeof settings>>): Promise<void> {
  const { config, clock } = scope;
  const messaging = await openMessaging(scope, {
    service: 'webhook-dispatcher',
    databaseSchema: webhookDatabaseSchema,
    batchesShareTransactions: true,
  });
  const store = openDeliveryStore(messaging.db, config.DELIVERY_KEEP_DAYS);
  const health = openHealthStore(messaging.db, config.DELIVERY_KEEP_DAYS);
  const endpoints = createEndpointHealth(health, {
    warnAfterMs: config.ENDPOINT_WARN_AFTER_MS,
    disableAfterMs: config.ENDPOINT_DISABLE_AFTER_MS,
  });
  const directory = createDirectory({ db: messaging.database('directory'), clock });
  const metrics = createDeliveryMetrics(scope.metrics, { store, health, endpoints, clock });
  const sender = await scope.open(
    'sender',
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
    endpoints,
    ended: metrics.ended,
    claimOnWrite: (...request) => deliverer.claimOnWrite(...request),
    becameDue: () => deliverer.wake(),
  });
  const watch = await scope.open(
    'endpoint watch',
    startEndpointWatch({
      ...scope,
      store,
      health,
      endpoints,
      directory,
      messaging,
      becameDue: () => deliverer.wake(),
    }),
  );
  const deliverer = await scope.open(
    'deliverer',
    startDeliverer({
      ...scope,
      store,
      sender,
      deliveries,
      attempted: metrics.attempted,
      endpoints,
      directory,
      delaysMs: config.RETRY_DELAYS_MS,
      deadlineMs: config.DELIVERY_DEADLINE_MS,
      concurrencyMax: config.DELIVERY_CONCURRENCY_MAX,
      concurrencyPerEndpointMax: config.DELIVERY_CONCURRENCY_PER_ENDPOINT_MAX,
      concurrencyPerMerchantMax: config.DELIVERY_CONCURRENCY_PER_MERCHANT_MAX,
      pauseMs: config.DELIVERY_PAUSE_MS,
    }),
  );
  messaging.showWaiting(readsForPeople(store, health));
  await messaging.consume(createHandlers({ deliveries, clock }));
  const enabling = { store, health, endpoints, messaging, clock, enabled: watch.wake };
  const deadlineMs = config.DELIVERY_DEADLINE_MS;
  const inspections = createInspections({ ...scope, store, directory, sender, deadlineMs });
  addOperatorRoutes(scope.operator, { deliveries, store, enabling, inspections });
}
