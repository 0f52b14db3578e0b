import { systemClock } from '@pesewa/kernel';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';

it('still exports everything else if the queue can not be counted', async () => {
  const registry = new Registry();
  const countDocuments = () => Promise.reject(new Error('no primary'));
  const collection = { countDocuments } as unknown as Parameters<typeof createMetrics>[1]['collection'];
  createMetrics(registry, { collection }, systemClock).payin('GMQMO', 'ok');
  const text = await registry.metrics();
  expect(text).toContain('payins_total{mobile_operator="GMQMO",outcome="ok"} 1');
  expect(text).toContain('queued_collections Nan');
});

it('counts by bounded labels, none of them text of merchants or rails', async () => {
  const registry = new Registry();
  // Only the gauge of the queue reads the store.
  const collection = { countDocuments: async () => 3 } as unknown as Parameters<
    typeof createMetrics
  >[1]['collection'];
  const metrics = createMetrics(registry, { collection }, systemClock);
  metrics.payin('GMQMO', 'ok');
  metrics.payin('<script>', 'OPERATOR NOT AVAILABLE');
  metrics.completion('CIORA', 'AWA JALLOW HAS NO MONEY');
  const text = await registry.metrics();
  for (const line of [
    'payins_total{mobile_operator="GMQMO",outcome="ok"} 1',
    'payins_total{mobile_operator="unknown",outcome="OPERATOR NOT AVAILABLE"} 1',
    'completions_total{mobile_operator="CIORA",outcome="refused by the rail"} 1',
    'queued_collections 3',
  ])
    expect(text).toContain(line);
  expect(text).not.toMatch(/script|JALLOW/);
});
