import { type Clock, withDeadline } from '@pesewa/kernel';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { CloseResult } from '../domain/close.ts';
import type { CloseStore } from './store.ts';

/** How long a query may take here. */
const READ_TIMEOUT_MS = 1_000;

/** Registers the metrics of daily closes; gives the function that counts records with a result. */
export function createCloseMetrics(
  registry: Registry,
  store: Pick<CloseStore, 'newestDone'>,
  clock: Clock,
): { readonly finished: (result: CloseResult) => void } {
  const records = new Counter({
    name: 'close_records_total',
    help: 'Payments that closes have compared with the rail, by result.',
    labelNames: ['result'],
    registers: [registry],
  });
  const age = new Gauge({
    name: 'last_close_age_seconds',
    help: 'Time since the end of the newest day whose close over all rails is done; no value if there is no such close.',
    registers: [registry],
    collect: async () => {
      const newest = await withDeadline(store.newestDone(), READ_TIMEOUT_MS, clock).catch(() => undefined);
      age.remove();
      if (newest) age.set((clock.nowMs() - newest.getTime()) / 1_000);
    },
  });
  return { finished: (result) => void (result !== 'pending' && records.inc({ result })) };
}
