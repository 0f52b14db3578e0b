import { createRequire } from 'node:module';
import { expect, it, vi } from 'vitest';

const require = createRequire(import.meta.url);

it('patches kafkajs once, however often it is loaded: a join that waits for itself never ends', async () => {
  const { prototype } = require('kafkajs/src/consumer/consumerGroup') as {
    readonly prototype: { readonly joinAndSync: unknown };
  };
  await import('./kafkajs-patches.ts');
  const first = prototype.joinAndSync;
  vi.resetModules();
  await import('./kafkajs-patches.ts');
  expect(prototype.joinAndSync).toBe(first);
});
