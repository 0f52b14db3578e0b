import { prepareDatabase } from '@pesewa/messaging';
import { openRails } from '@pesewa/rails';
import { runService } from '@pesewa/runtime';
import { composeReconciler } from './compose.ts';
import { environment, settings } from './config.ts';
import { reconcilerDatabaseSchema } from './database-schema.ts';

const prepare = prepareDatabase('reconciler', reconcilerDatabaseSchema);

await runService({ name: 'reconciler', settings, environment, prepare }, async (scope) => {
  const { config, clock, logger, metrics: registry } = scope;
  const rails = await scope.open('rails', openRails(config.RAILS, { clock, logger, registry }));
  await composeReconciler(scope, rails);
});
