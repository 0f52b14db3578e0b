import { Counter, type Registry } from 'prom-client';
import type { CloseResult } from '../domain/close.ts';

/** Registers the metrics of daily closes; gives the function that counts records with a result. */
export function createCloseMetrics(registry: Registry): {
  readonly finished: (result: CloseResult) => void;
} {
  const records = new Counter({
    name: 'close_records_total',
    help: 'Payments that closes have compared with the rail, by result.',
    labelNames: ['result'],
    registers: [registry],
  });
  return { finished: (result) => void (result !== 'pending' && records.inc({ result })) };
}
