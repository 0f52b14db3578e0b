import { Counter, type Registry } from 'prom-client';

/** Registers the reconciler's metrics; gives the functions that count polls. */
export function createMetrics(registry: Registry) {
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
  return {
    polled: (rail: string, result: string) => polls.inc({ rail, result }),
    /** Counts a search for due payments of a rail of which its rate limit left some waiting. */
    rateLimited: (rail: string) => rateLimited.inc({ rail }),
  };
}
