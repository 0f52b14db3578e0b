import { createDirectory } from '@pesewa/directory';
import { openMessaging } from '@pesewa/messaging';
import { openRails, readResubmitGraceMs } from '@pesewa/rails';
import { runService, serveHttp } from '@pesewa/runtime';
import { createApp } from './app.ts';
import { environment, settings } from './config.ts';
import { createPayoutEvents } from './events.ts';
import { createHandlers } from './handlers.ts';
import { createPayouts } from './payouts.ts';
import { openPayoutStore } from './store.ts';
import { startSubmitter } from './submitter.ts';

await runService('payout-gateway', settings, environment, async (scope) => {
  const { config, logger, clock, ids, crashPoint } = scope;
  const messaging = await openMessaging(scope, {
    service: 'payout-gateway',
    database: 'payouts',
    produces: ['payouts'],
  });
  const store = await openPayoutStore(messaging.db);
  const directory = createDirectory({ db: messaging.database('directory'), clock });
  const rails = await scope.open(openRails(config.RAILS, { clock, logger }));
  const resubmitGraceMs = readResubmitGraceMs(config, rails.all);
  const payouts = createPayouts({
    store,
    messaging,
    clock,
    ids,
    events: createPayoutEvents({ ids, clock }),
    routeRail: (order) => rails.routePayout(order)?.name,
    refused: (refusal, reference) => logger.debug({ refusal, reference }, 'nothing to do for a payout'),
  });
  const submitter = await scope.open(
    startSubmitter({
      store,
      payouts,
      messaging,
      clock,
      ids,
      logger,
      crashPoint,
      rail: (name) => rails.get(name),
      concurrencyMax: config.SUBMIT_CONCURRENCY_MAX,
      pauseMs: config.SUBMIT_PAUSE_MS,
    }),
  );
  await messaging.consume(createHandlers({ payouts, clock, resubmitGraceMs, becameDue: submitter.wake }));
  const app = createApp({ payouts, identify: directory.identify, logger });
  await scope.open(serveHttp({ app, host: config.HOST, port: config.PORT }));
});
