import { type Clock, withDeadline } from '@pesewa/kernel';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { CoverageRun } from './audits/coverage-store.ts';
import type { Tracked } from './domain/tracked.ts';
import type { WorkingStore } from './store.ts';

/** Counts polls, and callbacks for unknown payments without a break of their own. */
export interface Metrics {
  readonly polled: (rail: string, result: string) => void;
  readonly hidden: (rail: string) => void;
  /** Counts how many due payments of a rail one search has claimed, and whether the rate limit left others waiting. */
  readonly claimed: (rail: string, records: number, isRateLimited: boolean) => void;
  /** Counts the polls of a payment that its owner has ended. */
  readonly ended: (payment: Pick<Tracked, 'terms' | 'polls'>) => void;
}

/** The number of polls that a payment took until it ended. */
const POLLS_BUCKETS = [0, 1, 2, 3, 5, 8, 13, 20, 50];

/** How long a count may take here; the server gives up at the same time. */
const COUNT_TIMEOUT_MS = 1_000;

/** Registers the reconciler's metrics. */
export function createMetrics(
  registry: Registry,
  store: Pick<WorkingStore, 'countOpen' | 'oldestDue'>,
  clock: Clock,
  /** The rails that are polled, and unknown references. */
  watches: readonly string[],
): Metrics {
  /** Undefined if the database does not answer in time; the other metrics are exported all the same. */
  const read = <Value>(count: Promise<Value>) =>
    withDeadline(count, COUNT_TIMEOUT_MS, clock).catch(() => undefined);
  const polls = new Counter({
    name: 'polls_total',
    help: 'Polls of rails, by rail and answer.',
    labelNames: ['rail', 'result'],
    registers: [registry],
  });
  const open = new Gauge({
    name: 'open_payments',
    help: 'Payments of the working set that have not ended, by kind; no value while the database does not answer.',
    labelNames: ['kind'],
    registers: [registry],
    collect: async () => {
      const counts = await read(store.countOpen());
      open.reset();
      for (const [kind, count] of Object.entries(counts ?? {})) open.set({ kind }, count);
    },
  });
  const hidden = new Counter({
    name: 'unknown_references_hidden_total',
    help: 'Unknown references of callbacks that got no break because too many are open, by rail.',
    labelNames: ['rail'],
    registers: [registry],
  });
  const polling = countPolling(registry);
  const oldest = new Gauge({
    name: 'oldest_due_seconds',
    help: 'How long the payment of a rail that is due longest has waited for its poll; 0 if none waits.',
    labelNames: ['rail'],
    registers: [registry],
    collect: async () => {
      oldest.reset();
      const overdue = await Promise.all(
        watches.map(async (rail) => ({
          rail,
          due: await read(store.oldestDue(rail).then((at) => ({ at }))),
        })),
      );
      for (const { rail, due } of overdue) {
        if (due)
          oldest.set({ rail }, Math.max(0, clock.nowMs() - (due.at?.getTime() ?? clock.nowMs())) / 1_000);
      }
    },
  });
  return {
    ...polling,
    hidden: (rail) => hidden.inc({ rail }),
    polled: (rail, result) => polls.inc({ rail, result }),
  };
}

function countPolling(registry: Registry): Pick<Metrics, 'claimed' | 'ended'> {
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
    help: 'Number of polls until the owner of a payment ended it, by kind.',
    labelNames: ['kind'],
    buckets: POLLS_BUCKETS,
    registers: [registry],
  });
  return {
    claimed: (rail, records, isRateLimited) => {
      claims.inc({ rail }, records);
      if (isRateLimited) rateLimited.inc({ rail });
    },
    ended: ({ terms, polls: made }) => terms && polls.observe({ kind: terms.kind }, made),
  };
}

/** Registers the counters of coverage audits and their findings. */
export function countCoverage(
  registry: Registry,
): (run: Pick<CoverageRun, 'status' | 'sources' | 'found'>) => void {
  const runs = new Counter({
    name: 'coverage_runs_total',
    help: 'Audits of the working set against the records of the gateways, by result.',
    labelNames: ['status'],
    registers: [registry],
  });
  const sources = new Counter({
    name: 'coverage_sources_total',
    help: 'Audits of single gateways, by the kind of their payments and result.',
    labelNames: ['kind', 'status'],
    registers: [registry],
  });
  const found = new Counter({
    name: 'coverage_found_total',
    help: 'Payments that an audit found to differ between the working set and the records of the gateways, by kind.',
    labelNames: ['kind'],
    registers: [registry],
  });
  return (run) => {
    runs.inc({ status: run.status });
    for (const { kind, status } of run.sources ?? []) sources.inc({ kind, status });
    for (const [kind, count] of Object.entries(run.found)) found.inc({ kind }, count);
  };
}

/** Registers the gauge of payments that wait for the ledger. */
export function gaugeAwaitingLedger(
  registry: Registry,
  clock: Clock,
  count: (before: Date, timeoutMs: number) => Promise<number>,
): void {
  const awaiting = new Gauge({
    name: 'payments_awaiting_ledger',
    help: 'Payments that still lack a ledger entry after the grace time and are not judged yet; no value while the database does not answer.',
    registers: [registry],
    collect: async () => {
      const counted = count(new Date(clock.nowMs()), COUNT_TIMEOUT_MS);
      const answered = await withDeadline(counted, COUNT_TIMEOUT_MS, clock).catch(() => undefined);
      awaiting.remove();
      if (answered !== undefined) awaiting.set(answered);
    },
  });
}
