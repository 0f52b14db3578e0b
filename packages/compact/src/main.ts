import { runServices } from '@pesewa/runtime';
import { environment, environmentOf } from './config.ts';
import { hubServices } from './services.ts';

await runServices(
  'pesewa',
  hubServices.map((service) => ({ service, environment: environmentOf(environment, service.name) })),
);
