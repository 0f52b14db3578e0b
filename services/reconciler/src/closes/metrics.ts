import type { Clock } from '@pesewa/kernel';
import { Counter, type Registry } from 'prom-client';
import type { CloseResult } from '../domain/close.ts';
import { gauge, readInTime } from '../gauges.ts';
import type { CloseStore } from './store.ts';

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
  gauge({
    registry,
    name: 'last_close_age_seconds',
    help: 'Time since the end of the newest day whose close over all rails is done; no value if there is no such close.',
    read: async () => {
      const newest = await readInTime(store.newestDone(), clock);
      return newest && (clock.nowMs() - newest.getTime()) / 1_000;
    },
  });
  return { finished: (result) => void (result !== 'pending' && records.inc({ result })) };
}
