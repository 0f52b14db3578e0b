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
    owed: async () => [
      { bulkhead: 'dead payouts', nextAt: new Date(NOW_MS - 7_200_000) },
      { bulkhead: 'demo payouts', nextAt: new Date(NOW_MS - 90_000) },
      { bulkhead: 'demo collections', nextAt: new Date(NOW_MS + 5_000) },
    ],
    countPending: async () => 43,
    countExhausted: async () => 7,
    ...reads,
  };
  const health: Options['health'] = {
    count: async (state) => ({ healthy: 9, failing: 3, warned: 2, disabled: 1 })[state],
  };
  const endpoints = { isHealthy: (endpoint: string) => endpoint !== 'dead payouts' };
  return { registry, metrics: createDeliveryMetrics(registry, { store, health, endpoints, clock }) };
}

it('shows the backlog, how long the oldest due delivery has waited at an endpoint that answers, and endpoints by state', async () => {
  const { registry } = openMetrics();
  const text = await registry.metrics();
  for (const line of [
    'webhooks_pending 43',
    'oldest_due_webhook_seconds 90',
    'webhook_endpoints{state="failing"} 1',
    'webhook_endpoints{state="waiting"} 2',
    'failing_webhook_merchants 1',
    'webhooks_exhausted 7',
    'webhook_endpoint_health{state="failing"} 3',
    'webhook_endpoint_health{state="warned"} 2',
    'webhook_endpoint_health{state="disabled"} 1',
  ])
    expect(text).toContain(line);
});

it.each([
  ['none is pending', []],
  ['the first one is due later', [{ bulkhead: 'demo payouts', nextAt: new Date(NOW_MS + 60_000) }]],
  ['only a failing endpoint has due ones', [{ bulkhead: 'dead payouts', nextAt: new Date(NOW_MS - 60_000) }]],
])('shows that none is overdue if %s', async (_, owed) => {
  const { registry } = openMetrics({ owed: async () => owed });
  expect(await registry.metrics()).toContain('oldest_due_webhook_seconds 0');
});

it('shows no backlog if the database does not answer, and the rest all the same', async () => {
  const silent = () => Promise.reject(new Error('no primary'));
  const { registry } = openMetrics({ owed: silent, countPending: silent });
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
