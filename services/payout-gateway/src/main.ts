import { runService } from '@pesewa/runtime';
import { environment } from './config.ts';
import { payoutGateway } from './service.ts';

await runService(payoutGateway, environment);
