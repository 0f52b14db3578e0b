import { runService } from '@pesewa/runtime';
import { environment } from './config.ts';
import { operatorConsole } from './service.ts';

await runService(operatorConsole, environment);
