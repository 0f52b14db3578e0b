import { type Clock, withDeadline } from '@pesewa/kernel';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { AttemptResult, EndState } from './domain/delivery.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import type { OwedEndpoint } from './endpoints.ts';
import { type HealthStore, UNHEALTHY } from './health-store.ts';
import { type DeliveryStore, PENDING_MAX } from './store.ts';

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const READ_TIMEOUT_MS = 1_000;

/** The class of a status (`2xx`), or why there was no answer. */
function outcomeOf(result: AttemptResult): string {
  return result.kind === 'answered' ? `${Math.floor(result.status / 100)}xx` : result.error;
}

/**
 * Registers the metrics of deliveries; gauges are read at each scrape, without a value if the database does not answer.
 * No label names a merchant or an address.
 */
export function createDeliveryMetrics(
  registry: Registry,
  options: {
    readonly store: Pick<DeliveryStore, 'owed' | 'countPending' | 'countExhausted'>;
    readonly health: Pick<HealthStore, 'count'>;
    readonly endpoints: Pick<EndpointHealth, 'isHealthy'>;
    readonly clock: Clock;
  },
) {
  const registers = [registry];
  const attempts = new Histogram({
    name: 'webhook_attempt_seconds',
    help: 'Duration of delivery attempts, by outcome: the class of the status, or why there was none.',
    labelNames: ['outcome'],
    buckets: SECONDS,
    registers,
  });
  const ended = new Counter({
    name: 'webhook_deliveries_total',
    help: 'Deliveries that have ended, by state: delivered, exhausted or discarded.',
    labelNames: ['state'],
    registers,
  });
  for (const state of ['delivered', 'exhausted', 'discarded']) ended.inc({ state }, 0);
  gaugeBacklog(registers, options);
  gaugeHealth(registers, options);
  return {
    attempted: (result: AttemptResult, durationMs: number) =>
      attempts.observe({ outcome: outcomeOf(result) }, durationMs / 1_000),
    ended: (state: EndState) => ended.inc({ state }),
  };
}

function gaugeBacklog(
  registers: Registry[],
  { store, endpoints, clock }: Parameters<typeof createDeliveryMetrics>[1],
): void {
  const ask = <Value>(read: (timeoutMs: number) => Promise<Value>) =>
    withDeadline(read(READ_TIMEOUT_MS), READ_TIMEOUT_MS, clock);
  const gauge = (name: string, help: string, read: () => Promise<number>) => {
    const one: Gauge = new Gauge({
      name,
      help,
      registers,
      collect: async () => one.set(await read().catch(() => Number.NaN)),
    });
  };
  let reading: Promise<readonly OwedEndpoint[]> | undefined;
  /** What is owed, read once for all gauges of a scrape. */
  const owed = () => {
    reading ??= ask(store.owed).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  gauge(
    'webhooks_exhausted',
    'Deliveries that were given up and wait for an operator; 10,000 means at least as many.',
    () => ask(store.countExhausted),
  );
  gauge(
    'webhooks_pending',
    `Deliveries that have not ended; ${PENDING_MAX.toLocaleString('en')} means at least as many.`,
    () => ask(store.countPending),
  );
  gauge(
    'oldest_due_webhook_seconds',
    'How long the delivery that is due longest has waited for its attempt, at endpoints that answer: without those that had no success since a failure; 0 if none waits.',
    async () => {
      const healthy = (await owed()).filter(({ bulkhead }) => endpoints.isHealthy(bulkhead));
      const dueMs = healthy.map(({ nextAt }) => nextAt.getTime());
      return Math.max(0, clock.nowMs() - Math.min(Infinity, ...dueMs)) / 1_000;
    },
  );
  gauge(
    'failing_webhook_merchants',
    'Merchants that are owed webhooks at endpoints that had no success since a failure.',
    async () => {
      const failing = (await owed()).filter(({ bulkhead }) => !endpoints.isHealthy(bulkhead));
      return new Set(failing.map(({ bulkhead }) => bulkhead.split(' ', 1)[0])).size;
    },
  );
  const byState = new Gauge({
    name: 'webhook_endpoints',
    help: 'Endpoints with open deliveries: failing if they had no success since a failure, otherwise waiting.',
    labelNames: ['state'],
    registers,
    collect: async () => {
      const all = await owed().catch(() => undefined);
      const waiting = all?.filter(({ bulkhead }) => endpoints.isHealthy(bulkhead)).length ?? Number.NaN;
      byState.set({ state: 'waiting' }, waiting);
      byState.set({ state: 'failing' }, (all?.length ?? Number.NaN) - waiting);
    },
  });
}

function gaugeHealth(
  registers: Registry[],
  { health, clock }: Parameters<typeof createDeliveryMetrics>[1],
): void {
  const gauge = new Gauge({
    name: 'webhook_endpoint_health',
    help: 'Endpoints without a success since a failure, by state: failing, warned or disabled.',
    labelNames: ['state'],
    registers,
    collect: async () => {
      const read = (state: (typeof UNHEALTHY)[number]) =>
        withDeadline(health.count(state, READ_TIMEOUT_MS), READ_TIMEOUT_MS, clock).catch(() => Number.NaN);
      const counts = await Promise.all(UNHEALTHY.map(async (state) => [state, await read(state)] as const));
      for (const [state, count] of counts) gauge.set({ state }, count);
    },
  });
}
