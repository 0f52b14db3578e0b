import { Counter, Gauge, type Registry } from 'prom-client';
import type { BreakStore } from './breaks.ts';
import type { WorkingStore } from './store.ts';

/** What counts polls, and callbacks for unknown payments that have no break of their own. */
export interface Metrics {
  readonly polled: (rail: string, result: string) => void;
  readonly hidden: (rail: string) => void;
}

/** Registers the reconciler's metrics. */
export function createMetrics(
  registry: Registry,
  store: Pick<WorkingStore, 'countOpen'>,
  breaks: Pick<BreakStore, 'countOpen'>,
): Metrics {
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
  const openBreaks = new Gauge({
    name: 'open_breaks',
    help: 'Breaks that wait for people, or for their cause to go away, by kind.',
    labelNames: ['kind'],
    registers: [registry],
    collect: async () => {
      const counts = await breaks.countOpen();
      openBreaks.reset();
      for (const [kind, count] of counts) openBreaks.set({ kind }, count);
    },
  });
  const hidden = new Counter({
    name: 'unknown_references_hidden_total',
    help: 'References of callbacks that nobody knows and that got no break, since too many are open; by rail.',
    labelNames: ['rail'],
    registers: [registry],
  });
  return { hidden: (rail) => hidden.inc({ rail }), polled: (rail, result) => polls.inc({ rail, result }) };
}
