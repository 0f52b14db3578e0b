import { prepareDatabase } from '@pesewa/messaging';
import { openRails } from '@pesewa/rails';
import { runService, serveHttp } from '@pesewa/runtime';
import { composeGateway } from './compose.ts';
import { environment, settings } from './config.ts';
import { payoutDatabaseSchema } from './database-schema.ts';

const prepare = prepareDatabase('payout-gateway', payoutDatabaseSchema);

await runService({ name: 'payout-gateway', settings, environment, prepare }, async (scope) => {
  const { config, clock, logger, requests, metrics: registry } = scope;
  const rails = await scope.open('rails', openRails(config.RAILS, { clock, logger, registry }));
  const app = await composeGateway(scope, rails);
  const { HOST: host, PORT: port, DRAIN_DELAY_MS: drainDelayMs } = config;
  await scope.open('public port', serveHttp({ app, host, port, requests, drainDelayMs }));
});
