import { systemClock } from '@pesewa/kernel';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { Endpoint } from './endpoints.ts';
import { createDeliveryMetrics } from './metrics.ts';

const NOW_MS = 1_000_000;

const endpoint = (changes: Partial<Endpoint>): Endpoint => ({
  lane: 'demo payouts',
  state: 'waiting',
  pending: 1,
  failing: 0,
  oldestBornAt: new Date(0),
  nextAt: new Date(NOW_MS + 60_000),
  lastStatus: null,
  lastError: null,
  ...changes,
});

function openMetrics(read: () => Promise<readonly Endpoint[]>) {
  const registry = new Registry();
  const clock = { ...systemClock, nowMs: () => NOW_MS };
  const store = { endpoints: read, countExhausted: async () => 7 };
  return { registry, metrics: createDeliveryMetrics(registry, { store, clock }) };
}

it('exports the backlog, how long the oldest due delivery has waited, and the endpoints by their states', async () => {
  const { registry } = openMetrics(async () => [
    endpoint({ lane: 'demo payouts', state: 'failing', pending: 40, failing: 2 }),
    endpoint({ lane: 'shop payouts', pending: 2, nextAt: new Date(NOW_MS - 90_000) }),
    endpoint({ lane: 'shop https://shop.example' }),
  ]);
  const text = await registry.metrics();
  for (const line of [
    'webhooks_pending 43',
    'oldest_due_webhook_seconds 90',
    'webhook_endpoints{state="failing"} 1',
    'webhook_endpoints{state="waiting"} 2',
    'webhooks_exhausted 7',
  ])
    expect(text).toContain(line);
  expect(text).not.toMatch(/demo|shop/);
});

it('exports no backlog if the database does not answer', async () => {
  const { registry } = openMetrics(() => Promise.reject(new Error('no primary')));
  const text = await registry.metrics();
  expect(text).toContain('webhooks_pending Nan');
  expect(text).toContain('oldest_due_webhook_seconds Nan');
  expect(text).toContain('webhooks_exhausted 7');
});

it('counts attempts by the class of the status or the cause, and deliveries by how they ended', async () => {
  const { registry, metrics } = openMetrics(async () => []);
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
    'oldest_due_webhook_seconds 0',
  ])
    expect(text).toContain(line);
});
