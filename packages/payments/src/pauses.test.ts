import { systemClock } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import type { Db } from 'mongodb';
import { expect, it } from 'vitest';
import { openPauses } from './pauses.ts';

it('a pause stays, though an earlier read without it ends later', async () => {
  const reads: PromiseWithResolvers<readonly unknown[]>[] = [];
  const toArray = () => {
    const read = Promise.withResolvers<readonly unknown[]>();
    reads.push(read);
    return read.promise;
  };
  const collection = () => ({
    find: () => ({ sort: () => ({ toArray }) }),
    replaceOne: async () => undefined,
  });
  const opening = openPauses({
    db: { collection } as unknown as Db,
    clock: systemClock,
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  reads[0]?.resolve([]);
  await using pauses = await opening;
  // The loop reads, slowly.
  await expect.poll(() => reads.length).toBe(2);
  const pausing = pauses.pause({ scope: 'all', name: '' }, 'they pay twice', 'ama');
  await expect.poll(() => reads.length).toBe(3);
  reads[2]?.resolve([{ _id: 'all/', scope: 'all', name: '', reason: '', by: 'ama', at: new Date(0) }]);
  await pausing;
  reads[1]?.resolve([]);
  await new Promise(setImmediate);
  expect(pauses.isPaused({})).toBe(true);
});
