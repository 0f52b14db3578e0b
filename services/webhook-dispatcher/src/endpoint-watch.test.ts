import { systemClock } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { expect, it, vi } from 'vitest';
import { startEndpointWatch } from './endpoint-watch.ts';
import type { HealthDocument } from './health-store.ts';

const disabled = (_id: string): HealthDocument => ({
  _id,
  state: 'disabled',
  address: null,
  failingSince: new Date(0),
  lastFailureAt: new Date(0),
  lastSuccessAt: null,
  version: 1,
});

it('an endpoint whose webhooks are not kept holds up no other, and is tried again in the next round', async () => {
  const kept: string[] = [];
  const released: string[] = [];
  const watch = await startEndpointWatch({
    store: {
      keep: async (endpoint) => {
        kept.push(endpoint);
        if (endpoint === 'large payouts') throw new Error('operation exceeded time limit');
      },
      release: async (endpoint) => released.push(endpoint) > 0,
      deferredBulkheads: async () => ['large payouts', 'enabled payouts'],
    },
    health: { find: async () => new Map([['large payouts', disabled('large payouts')]]) },
    endpoints: {
      isDisabled: () => true,
      isHealthy: () => false,
      record: async () => undefined,
      enable: () => Promise.reject(new Error('not asked')),
      refresh: async () => [disabled('large payouts'), disabled('small payouts')],
      recordMissed: async () => undefined,
    },
    directory: { find: async () => undefined },
    messaging: { inTransaction: () => Promise.resolve(undefined as never) },
    becameDue: () => undefined,
    pauseMs: 60_000,
    clock: systemClock,
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  await vi.waitFor(() => expect(released).toEqual(['enabled payouts']));
  watch.wake();
  await vi.waitFor(() => expect(released).toHaveLength(2));
  expect(kept).toEqual(['large payouts', 'small payouts', 'large payouts']);
  await watch[Symbol.asyncDispose]();
});
