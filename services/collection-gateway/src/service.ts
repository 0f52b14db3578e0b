import { databaseTasks } from '@pesewa/messaging';
import { openRails } from '@pesewa/rails';
import { defineService, publicPort, serveHttp } from '@pesewa/runtime';
import { composeGateway } from './compose.ts';
import { settings } from './config.ts';
import { collectionDatabaseSchema } from './database-schema.ts';

/** The collection gateway, as a process runs it. */
export const collectionGateway = defineService({
  name: 'collection-gateway',
  settings,
  ...databaseTasks('collection-gateway', collectionDatabaseSchema),
  compose: async (scope) => {
    const { config, clock, logger, requests, metrics: registry } = scope;
    const rails = await scope.open('rails', openRails(config.RAILS, { clock, logger, registry }));
    const { app, completer } = await composeGateway(scope, rails);
    const hurry = async () => completer[Symbol.asyncDispose]();
    await scope.open('public port', serveHttp({ ...publicPort(config), app, requests, hurry }));
  },
});
