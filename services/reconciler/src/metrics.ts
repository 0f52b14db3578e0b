import type { Clock } from '@pesewa/kernel';
import { Counter, type Registry } from 'prom-client';
import { ageSeconds, gauge, readInTime } from './gauges.ts';
import type { WorkingStore } from './store.ts';

/** Registers the metrics of polling; gives the functions that count. */
export function createMetrics(
  registry: Registry,
  store: Pick<WorkingStore, 'countOpen' | 'oldestDue'>,
  clock: Clock,
  /** The rails that are polled. */
  rails: readonly string[],
) {
  const polls = new Counter({
    name: 'polls_total',
    help: 'Polls of rails, by rail and answer.',
    labelNames: ['rail', 'result'],
    registers: [registry],
  });
  const rateLimited = new Counter({
    name: 'claims_rate_limited_total',
    help: 'Searches for due payments that the rate limit of a rail has cut short, by rail.',
    labelNames: ['rail'],
    registers: [registry],
  });
  gauge({
    registry,
    name: 'open_payments',
    help: 'Payments of the working set that have not ended, by kind; no value while the database does not answer.',
    labelNames: ['kind'],
    read: async () => {
      const counts = await readInTime(store.countOpen(), clock);
      return counts && Object.entries(counts).map(([kind, count]) => [{ kind }, count]);
    },
  });
  gauge({
    registry,
    name: 'oldest_due_seconds',
    help: 'How long the payment of a rail that is due longest has waited for its poll; 0 if none waits.',
    labelNames: ['rail'],
    read: async () => {
      const ages = rails.map(async (rail) => {
        const due = store.oldestDue(rail).then((at) => (at ? ageSeconds(at, clock) : 0));
        const age = await readInTime(due, clock);
        return age === undefined ? [] : [[{ rail }, age] as const];
      });
      return (await Promise.all(ages)).flat();
    },
  });
  return {
    polled: (rail: string, result: string) => polls.inc({ rail, result }),
    /** Counts a search for due payments of a rail of which its rate limit left some waiting. */
    rateLimited: (rail: string) => rateLimited.inc({ rail }),
  };
}
