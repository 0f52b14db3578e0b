import { Counter, Gauge, type Registry } from 'prom-client';
import type { WorkingStore } from './store.ts';

/** Registers the reconciler's metrics; gives what counts a poll. */
export function createMetrics(
  registry: Registry,
  store: Pick<WorkingStore, 'countOpen'>,
): { readonly polled: (rail: string, result: string) => void } {
  const polls = new Counter({
    name: 'polls_total',
    help: 'Polls of rails, by rail and what it said.',
    labelNames: ['rail', 'result'],
    registers: [registry],
  });
  const open = new Gauge({
    name: 'open_payments',
    help: 'Payments of the working set that have not ended, by kind.',
    labelNames: ['kind'],
    registers: [registry],
    collect: async () => {
      for (const [kind, count] of Object.entries(await store.countOpen())) open.set({ kind }, count);
    },
  });
  return { polled: (rail, result) => polls.inc({ rail, result }) };
}
