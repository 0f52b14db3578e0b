import { type Clock, withDeadline } from '@pesewa/kernel';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { AttemptResult, DeliveryState } from './domain/delivery.ts';
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
    readonly store: Pick<DeliveryStore, 'countEndpoints' | 'countPending' | 'firstDueAt' | 'countExhausted'>;
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
  return {
    attempted: (result: AttemptResult, durationMs: number) =>
      attempts.observe({ outcome: outcomeOf(result) }, durationMs / 1_000),
    ended: (state: Exclude<DeliveryState, 'pending'>) => ended.inc({ state }),
  };
}

function gaugeBacklog(
  registers: Registry[],
  { store, clock }: Parameters<typeof createDeliveryMetrics>[1],
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
    'How long the delivery that is due longest has waited for its attempt; 0 if none waits.',
    async () => secondsSince(await ask(store.firstDueAt), clock.nowMs()),
  );
  const endpoints = new Gauge({
    name: 'webhook_endpoints',
    help: 'Endpoints with open deliveries: failing if an attempt of one has failed, otherwise waiting.',
    labelNames: ['state'],
    registers,
    collect: async () => {
      const counts = await ask(store.countEndpoints).catch(() => undefined);
      for (const state of ['failing', 'waiting'] as const)
        endpoints.set({ state }, counts?.[state] ?? Number.NaN);
    },
  });
}

function secondsSince(dueAt: Date | undefined, nowMs: number): number {
  return dueAt === undefined ? 0 : Math.max(0, nowMs - dueAt.getTime()) / 1_000;
}
