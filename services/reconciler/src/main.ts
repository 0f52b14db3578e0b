import { openRails } from '@pesewa/rails';
import { runService } from '@pesewa/runtime';
import { composeReconciler } from './compose.ts';
import { environment, settings } from './config.ts';

await runService('reconciler', settings, environment, async (scope) => {
  const { config, clock, logger } = scope;
  await composeReconciler(scope, await scope.open(openRails(config.RAILS, { clock, logger })));
});
