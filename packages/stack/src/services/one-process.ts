// All services of a stack in one process. The reconciler begins once the file exists that says that everything
// is seeded: before it, the balances of the simulator's wallets would be unknown to our books and reported as breaks.
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { environmentOf, hubServices } from '@pesewa/compact';
import { providerSimulator } from '@pesewa/provider-simulator';
import { runServices } from '@pesewa/runtime';

const LOOK_PAUSE_MS = 20;

async function untilSeeded(): Promise<void> {
  while (!existsSync(process.env['SEEDED_FILE'] ?? '')) await setTimeout(LOOK_PAUSE_MS);
}

await runServices(
  'pesewa',
  [providerSimulator, ...hubServices].map((service) => ({
    service,
    environment: environmentOf(process.env, service.name),
    ...(service.name === 'reconciler' && { after: untilSeeded() }),
  })),
);
