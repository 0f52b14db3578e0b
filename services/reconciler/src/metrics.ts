import type { Clock } from '@pesewa/kernel';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Tracked } from './domain/tracked.ts';
import { ageSeconds, gauge, readInTime } from './gauges.ts';
import type { WorkingStore } from './store.ts';

/** The number of polls that a payment took until it ended. */
const POLLS_BUCKETS = [0, 1, 2, 3, 5, 8, 13, 20, 50];

/** Registers the reconciler's metrics; gives the functions that count polls. */
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
  const polling = countPolling(registry);
  gauge({
    registry,
    name: 'oldest_due_seconds',
    help: 'How long the payment of a rail that is due longest has waited for its poll; 0 if none waits.',
    labelNames: ['rail'],
    read: async () => {
      const overdue = rails.map(async (rail) => {
        const due = await readInTime(
          store.oldestDue(rail).then((at) => ({ at })),
          clock,
        );
        return due ? [[{ rail }, due.at ? ageSeconds(due.at, clock) : 0] as const] : [];
      });
      return (await Promise.all(overdue)).flat();
    },
  });
  return {
    ...polling,
    polled: (rail: string, result: string) => polls.inc({ rail, result }),
  };
}

function countPolling(registry: Registry) {
  const claims = new Counter({
    name: 'claims_total',
    help: 'Payments claimed for a poll, by rail.',
    labelNames: ['rail'],
    registers: [registry],
  });
  const rateLimited = new Counter({
    name: 'claims_rate_limited_total',
    help: 'Searches for due payments that the rate limit of a rail has cut short, by rail.',
    labelNames: ['rail'],
    registers: [registry],
  });
  const polls = new Histogram({
    name: 'polls_per_finalised_payment',
    help: 'Number of polls until the owner of a payment ended it, by kind; one that only confirmed its callback is not written, and not counted.',
    labelNames: ['kind'],
    buckets: POLLS_BUCKETS,
    registers: [registry],
  });
  return {
    /** Counts how many due payments of a rail one search has claimed, and whether the rate limit left others waiting. */
    claimed: (rail: string, records: number, isRateLimited: boolean) => {
      claims.inc({ rail }, records);
      if (isRateLimited) rateLimited.inc({ rail });
    },
    /** Counts the polls of a payment that its owner has ended. */
    ended: ({ terms, polls: made }: Pick<Tracked, 'terms' | 'polls'>) =>
      terms && polls.observe({ kind: terms.kind }, made),
  };
}
