import { createLogger } from '@pesewa/runtime';
import type { Db } from 'mongodb';
import { expect, it } from 'vitest';
import { createMarkWaiting } from './on-its-way.ts';

const outboxRecords = (count: number) => Array.from({ length: count }, (_, index) => ({ _id: `b${index}` }));

/** Reads outboxes that give these answers. */
function reading(found: () => Promise<readonly { readonly _id: string }[]>) {
  const cursor = { project: () => cursor, hint: () => cursor, limit: () => cursor, toArray: found };
  const collection = { find: () => cursor, findOne: async () => (await found())[0] ?? null };
  return createMarkWaiting({
    messaging: { database: () => ({ collection: () => collection }) as unknown as Db },
    clock: { sleep: () => new Promise((done) => setImmediate(done)) },
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
}

it('knows when all that waited has left', async () => {
  const answers = [outboxRecords(1), outboxRecords(1), []];
  const hasLeft = await reading(async () => answers.shift() ?? [])('ingress');
  expect([await hasLeft?.(), await hasLeft?.()]).toEqual([false, true]);
});

it('asks nothing more where nothing waits', async () => {
  const answers = [[]];
  const asked = async () => answers.shift() ?? Promise.reject(new Error('asked'));
  const hasLeft = await reading(asked)('ingress');
  expect(await hasLeft?.()).toBe(true);
});

it.each([
  ['the database refuses', () => Promise.reject(new Error('not authorized'))],
  ['the database does not answer', () => new Promise<never>(() => undefined)],
])('gives no result if %s', async (_, fails) => {
  expect(await reading(fails)('ingress')).toBeUndefined();
  let isWell = true;
  const hasLeft = await reading(() => (isWell ? Promise.resolve(outboxRecords(1)) : fails()))('ingress');
  isWell = false;
  expect(await hasLeft?.()).toBeUndefined();
});

it('marks either all that waits, or nothing', async () => {
  expect(await reading(async () => outboxRecords(10_000))('ingress')).toBeDefined();
  expect(await reading(async () => outboxRecords(10_001))('ingress')).toBeUndefined();
});
