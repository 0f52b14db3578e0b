import { databaseTasks } from '@pesewa/messaging';
import { defineService } from '@pesewa/runtime';
import { composeDispatcher } from './compose.ts';
import { settings } from './config.ts';
import { webhookDatabaseSchema } from './database-schema.ts';

/** The webhook dispatcher, as a process runs it. */
export const webhookDispatcher = defineService({
  name: 'webhook-dispatcher',
  settings,
  ...databaseTasks('webhook-dispatcher', webhookDatabaseSchema),
  compose: composeDispatcher,
});
