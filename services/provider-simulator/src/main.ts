import { runService } from '@pesewa/runtime';
import { environment } from './config.ts';
import { providerSimulator } from './service.ts';

await runService(providerSimulator, environment);
