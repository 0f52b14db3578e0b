import { runService } from '@pesewa/runtime';
import { environment } from './config.ts';
import { webhookDispatcher } from './service.ts';

await runService(webhookDispatcher, environment);
