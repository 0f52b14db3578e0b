import { type Clock, withDeadline } from '@pesewa/kernel';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { BreakStore } from './breaks.ts';
import type { WorkingStore } from './store.ts';

/** What counts polls, and callbacks for unknown payments that have no break of their own. */
export interface Metrics {
  readonly polled: (rail: string, result: string) => void;
  readonly hidden: (rail: string) => void;
}

/** How long a count may take here; the server gives up at the same time. */
const COUNT_TIMEOUT_MS = 1_000;

/** Registers the reconciler's metrics. */
export function createMetrics(
  registry: Registry,
  store: Pick<WorkingStore, 'countOpen'>,
  breaks: Pick<BreakStore, 'countOpen'>,
  clock: Clock,
): Metrics {
  /** Nothing where the database does not tell in time: the other metrics are told all the same. */
  const read = <Value>(count: Promise<Value>) =>
    withDeadline(count, COUNT_TIMEOUT_MS, clock).catch(() => undefined);
  const polls = new Counter({
    name: 'polls_total',
    help: 'Polls of rails, by rail and what it said.',
    labelNames: ['rail', 'result'],
    registers: [registry],
  });
  const open = new Gauge({
    name: 'open_payments',
    help: 'Payments of the working set that have not ended, by kind; none where the database does not tell.',
    labelNames: ['kind'],
    registers: [registry],
    collect: async () => {
      const counts = await read(store.countOpen());
      open.reset();
      for (const [kind, count] of Object.entries(counts ?? {})) open.set({ kind }, count);
    },
  });
  const openBreaks = new Gauge({
    name: 'open_breaks',
    help: 'Breaks that wait for people, or for their cause to go away, by kind.',
    labelNames: ['kind'],
    registers: [registry],
    collect: async () => {
      const counts = await read(breaks.countOpen());
      openBreaks.reset();
      for (const [kind, count] of counts ?? []) openBreaks.set({ kind }, count);
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
