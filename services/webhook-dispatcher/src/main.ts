import { prepareDatabase } from '@pesewa/messaging';
import { runService } from '@pesewa/runtime';
import { composeDispatcher } from './compose.ts';
import { environment, settings } from './config.ts';
import { webhookCollections } from './indexes.ts';

const prepare = prepareDatabase('webhook-dispatcher', webhookCollections);

await runService({ name: 'webhook-dispatcher', settings, environment, prepare }, composeDispatcher);
