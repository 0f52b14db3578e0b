import { runService } from '@pesewa/runtime';
import { environment } from './config.ts';
import { ledger } from './service.ts';

await runService(ledger, environment);
