import { databaseTasks } from '@pesewa/messaging';
import { openRails } from '@pesewa/rails';
import { defineService, publicPort, serveHttp } from '@pesewa/runtime';
import { composeGateway } from './compose.ts';
import { settings } from './config.ts';
import { payoutDatabaseSchema } from './database-schema.ts';
import { recoverPayoutGateway } from './recovery.ts';

/** The payout gateway, as a process runs it. */
export const payoutGateway = defineService({
  name: 'payout-gateway',
  settings,
  ...databaseTasks('payout-gateway', payoutDatabaseSchema, recoverPayoutGateway),
  compose: async (scope) => {
    const { config, clock, logger, requests, metrics: registry } = scope;
    const rails = await scope.open('rails', openRails(config.RAILS, { clock, logger, registry }));
    const app = await composeGateway(scope, rails);
    await scope.open('public port', serveHttp({ ...publicPort(config), app, requests }));
  },
});
