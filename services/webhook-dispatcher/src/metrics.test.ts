import { systemClock } from '@pesewa/kernel';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createDeliveryMetrics } from './metrics.ts';

const NOW_MS = 1_000_000;

type Options = Parameters<typeof createDeliveryMetrics>[1];

function openMetrics(reads: Partial<Options['store']> = {}) {
  const registry = new Registry();
  const clock = { ...systemClock, nowMs: () => NOW_MS };
  const store: Options['store'] = {
    countEndpoints: async () => ({ failing: 1, waiting: 2 }),
    countPending: async () => 43,
    firstDueAt: async () => new Date(NOW_MS - 90_000),
    countExhausted: async () => 7,
    ...reads,
  };
  return { registry, metrics: createDeliveryMetrics(registry, { store, clock }) };
}

it('shows the backlog, how long the oldest due delivery has waited, and the endpoints by their states', async () => {
  const { registry } = openMetrics();
  const text = await registry.metrics();
  for (const line of [
    'webhooks_pending 43',
    'oldest_due_webhook_seconds 90',
    'webhook_endpoints{state="failing"} 1',
    'webhook_endpoints{state="waiting"} 2',
    'webhooks_exhausted 7',
  ])
    expect(text).toContain(line);
});

it.each([
  ['none is pending', undefined],
  ['the first one is due later', new Date(NOW_MS + 60_000)],
])('shows that none is overdue if %s', async (_, dueAt) => {
  const { registry } = openMetrics({ firstDueAt: async () => dueAt });
  expect(await registry.metrics()).toContain('oldest_due_webhook_seconds 0');
});

it('shows no backlog if the database does not answer, and the rest all the same', async () => {
  const silent = () => Promise.reject(new Error('no primary'));
  const { registry } = openMetrics({ countEndpoints: silent, countPending: silent, firstDueAt: silent });
  const text = await registry.metrics();
  for (const line of [
    'webhooks_pending Nan',
    'oldest_due_webhook_seconds Nan',
    'webhook_endpoints{state="failing"} Nan',
    'webhook_endpoints{state="waiting"} Nan',
  ])
    expect(text).toContain(line);
  expect(text).toContain('webhooks_exhausted 7');
});

it('counts attempts by the class of the status or the cause, and deliveries by how they ended', async () => {
  const { registry, metrics } = openMetrics();
  metrics.attempted({ kind: 'answered', status: 204, retryAfterMs: null }, 250);
  metrics.attempted({ kind: 'answered', status: 418, retryAfterMs: null }, 10);
  metrics.attempted({ kind: 'failed', error: 'tls' }, 10);
  metrics.ended('exhausted');
  const text = await registry.metrics();
  for (const line of [
    'webhook_attempt_seconds_sum{outcome="2xx"} 0.25',
    'webhook_attempt_seconds_count{outcome="4xx"} 1',
    'webhook_attempt_seconds_count{outcome="tls"} 1',
    'webhook_deliveries_total{state="exhausted"} 1',
    'webhook_deliveries_total{state="discarded"} 0',
  ])
    expect(text).toContain(line);
});
