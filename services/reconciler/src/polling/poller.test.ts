import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { createAutoAdvancingClock } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { type PollerDeps, startPoller } from './poller.ts';

it('claims the references of made-up callbacks by themselves, in the order of the index', async () => {
  const searched = new Map<string, unknown>();
  const cursor = {
    project: () => cursor,
    sort: () => cursor,
    limit: () => cursor,
    batchSize: () => cursor,
    toArray: async () => [],
  };
  const find = ({ watch }: { readonly watch: unknown }) => {
    searched.set(JSON.stringify(watch), watch);
    return cursor;
  };
  const polling = { concurrencyMax: 1, perSecondMax: 1 };
  const rail = {
    name: 'upstream',
    capabilities: { callDeadlineMs: 1_000, polling },
    isAvailable: () => true,
  };
  const deps = {
    store: { collection: { find } },
    messaging: { groupCommit: () => ({ submit: async () => undefined }) },
    rails: [rail],
    claimed: () => undefined,
    pauseMs: 1,
    clock: createAutoAdvancingClock(),
    ids: createIds(systemClock, systemRandom),
    logger: createLogger({ name: 'test', level: 'silent' }),
  };
  const poller = startPoller(deps as unknown as PollerDeps);
  await expect.poll(() => searched.size).toBe(2);
  await poller[Symbol.asyncDispose]();
  // A range would have every due record read and sorted for each batch.
  expect([...searched.values()]).toEqual(['upstream', { $gt: '', $nin: ['upstream'] }]);
});
