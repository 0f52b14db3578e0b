import { prepareDatabase } from '@pesewa/messaging';
import { openRails } from '@pesewa/rails';
import { runService, serveHttp } from '@pesewa/runtime';
import { composeGateway } from './compose.ts';
import { environment, settings } from './config.ts';
import { collectionCollections } from './indexes.ts';

const prepare = prepareDatabase('collection-gateway', collectionCollections);

await runService({ name: 'collection-gateway', settings, environment, prepare }, async (scope) => {
  const { config, clock, logger, requests, metrics: registry } = scope;
  const rails = await scope.open(openRails(config.RAILS, { clock, logger, registry }));
  const { app, completer } = await composeGateway(scope, rails);
  await scope.open(serveHttp({ app, host: config.HOST, port: config.PORT, requests }));
  await scope.open(completer);
});
