import { createDirectory } from '@pesewa/directory';
import { openMessaging } from '@pesewa/messaging';
import { openRails, readResubmitGraceMs } from '@pesewa/rails';
import { runService, serveHttp } from '@pesewa/runtime';
import { createApp } from './app.ts';
import { createCollections } from './collections.ts';
import { createComplete } from './completer.ts';
import { environment, settings } from './config.ts';
import { createCollectionEvents } from './events.ts';
import { createHandlers } from './handlers.ts';
import { createInitiate, startInitiator } from './initiator.ts';
import { createPatience } from './patience.ts';
import { openCollectionStore } from './store.ts';

await runService('collection-gateway', settings, environment, async (scope) => {
  const { config, logger, clock, ids, crashPoint } = scope;
  const messaging = await openMessaging(scope, {
    service: 'collection-gateway',
    database: 'collections',
    produces: ['collections'],
  });
  const store = await openCollectionStore(messaging.db);
  const { identify } = createDirectory({ db: messaging.database('directory'), clock });
  const rails = await scope.open(openRails(config.RAILS, { clock, logger }));
  const resubmitGraceMs = readResubmitGraceMs(config, rails.all);
  const patience = await scope.open(createPatience({ deadlineMs: config.RAIL_DEADLINE_MS, clock, logger }));
  const collections = createCollections({
    store,
    messaging,
    clock,
    ids,
    events: createCollectionEvents({ ids, clock }),
    routeRail: (operatorCode) => rails.routeCollection({ operatorCode }),
    refused: (refusal, reference) => logger.info({ refusal, reference }, 'nothing to do for a collection'),
  });
  const outside = { collections, rail: rails.get, clock, logger, crashPoint };
  const initiate = createInitiate(outside);
  const complete = createComplete({ ...outside, messaging, patience });
  const initiator = await scope.open(
    startInitiator({
      ...outside,
      store,
      initiate,
      ids,
      concurrencyMax: config.INITIATE_CONCURRENCY_MAX,
      pauseMs: config.INITIATE_PAUSE_MS,
    }),
  );
  await messaging.consume(createHandlers({ collections, resubmitGraceMs, becameDue: initiator.wake }));
  const app = createApp({ collections, initiate, complete, patience, identify, clock, logger });
  await scope.open(serveHttp({ app, host: config.HOST, port: config.PORT }));
});
