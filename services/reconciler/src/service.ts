import { databaseTasks } from '@pesewa/messaging';
import { openRails } from '@pesewa/rails';
import { defineService } from '@pesewa/runtime';
import { composeReconciler } from './compose.ts';
import { settings } from './config.ts';
import { reconcilerDatabaseSchema } from './database-schema.ts';

/** The reconciler, as a process runs it. */
export const reconciler = defineService({
  name: 'reconciler',
  settings,
  ...databaseTasks('reconciler', reconcilerDatabaseSchema),
  compose: async (scope) => {
    const { config, clock, logger, metrics: registry } = scope;
    const rails = await scope.open('rails', openRails(config.RAILS, { clock, logger, registry }));
    await composeReconciler(scope, rails);
  },
});
