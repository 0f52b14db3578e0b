import { Counter, Histogram, type Registry } from 'prom-client';
import type { CloseResult } from './domain/close.ts';
import type { Tracked } from './domain/tracked.ts';

/** The number of polls that a payment took until it ended. */
const POLLS_BUCKETS = [0, 1, 2, 3, 5, 8, 13, 20, 50];

/** Registers the reconciler's metrics; gives the functions that count polls. */
export function createMetrics(registry: Registry) {
  const polls = new Counter({
    name: 'polls_total',
    help: 'Polls of rails, by rail and answer.',
    labelNames: ['rail', 'result'],
    registers: [registry],
  });
  return {
    ...countPolling(registry),
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

/** Registers the counter of what closes have compared; gives the function that counts a record with a result. */
export function countCloseRecords(registry: Registry): (result: CloseResult) => void {
  const records = new Counter({
    name: 'close_records_total',
    help: 'Payments that closes have compared with the rail, by result.',
    labelNames: ['result'],
    registers: [registry],
  });
  return (result) => void (result !== 'pending' && records.inc({ result }));
}
