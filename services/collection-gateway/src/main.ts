import { runService } from '@pesewa/runtime';
import { environment } from './config.ts';
import { collectionGateway } from './service.ts';

await runService(collectionGateway, environment);
