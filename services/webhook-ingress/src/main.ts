import { runService } from '@pesewa/runtime';
import { environment } from './config.ts';
import { webhookIngress } from './service.ts';

await runService(webhookIngress, environment);
