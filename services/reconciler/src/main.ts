import { runService } from '@pesewa/runtime';
import { environment } from './config.ts';
import { reconciler } from './service.ts';

await runService(reconciler, environment);
