import { prepareDatabase } from '@pesewa/messaging';
import { runService } from '@pesewa/runtime';
import { composeDispatcher } from './compose.ts';
import { environment, settings } from './config.ts';
import { webhookDatabaseSchema } from './database-schema.ts';

const prepare = prepareDatabase('webhook-dispatcher', webhookDatabaseSchema);

await runService({ name: 'webhook-dispatcher', settings, environment, prepare }, composeDispatcher);
