import { accept, refuse, systemClock } from '@pesewa/kernel';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { countRequests, gaugeOldestHeld } from './metrics.ts';

type Store = Parameters<typeof gaugeOldestHeld>[0]['store'];
type Query = { readonly rail: string; readonly queue: string };

const read = async (findOne: (query: Query) => Promise<unknown>): Promise<string> => {
  const registry = new Registry();
  const store = { collection: { findOne } } as unknown as Store;
  const clock = { ...systemClock, nowMs: () => 100_000 };
  gaugeOldestHeld({ store, rails: ['one', 'two'], registry, clock });
  return registry.metrics();
};

it('exports for each rail how long its longest held payout has been due, in whichever queue', async () => {
  const dueAtMs: Record<string, number> = { 'one/single': 90_000, 'one/batch': 40_000, 'two/batch': 200_000 };
  const text = await read(async ({ rail, queue }) => {
    const atMs = dueAtMs[`${rail}/${queue}`];
    return atMs === undefined ? null : { dueAt: new Date(atMs) };
  });
  expect(text).toContain('oldest_held_payout_seconds{rail="one"} 60');
  expect(text).toContain('oldest_held_payout_seconds{rail="two"} 0');
});

it('exports nothing if the database does not answer', async () => {
  expect(await read(() => Promise.reject(new Error('no primary')))).not.toContain('rail=');
});

it('counts payouts and batches by what became of them', async () => {
  const registry = new Registry();
  const count = countRequests(registry);
  const outcomes = [accept('po-1'), refuse({ code: 'overLimit', message: 'over the maximum' } as const)];
  const request = count('single', async (index: number) => outcomes[index] ?? accept('po-2'));
  for (const index of [0, 1, 2]) await request(index);
  await count('batch', async () => accept(null))();
  const text = await registry.metrics();
  expect(text).toContain('payout_requests_total{kind="single",outcome="ok"} 2');
  expect(text).toContain('payout_requests_total{kind="single",outcome="overLimit"} 1');
  expect(text).toContain('payout_requests_total{kind="batch",outcome="ok"} 1');
});
