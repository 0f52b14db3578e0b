import { createLogger } from '@pesewa/runtime';
import type { Db } from 'mongodb';
import { expect, it } from 'vitest';
import { createOnItsWay } from './on-its-way.ts';

const outboxRecords = (count: number) => Array.from({ length: count }, (_, index) => ({ _id: `b${index}` }));

/** Reads outboxes that give these answers. */
function reading(found: () => Promise<readonly { readonly _id: string }[]>) {
  const cursor = { project: () => cursor, hint: () => cursor, limit: () => cursor, toArray: found };
  const collection = { find: () => cursor, findOne: async () => (await found())[0] ?? null };
  return createOnItsWay({
    messaging: { database: () => ({ collection: () => collection }) as unknown as Db },
    clock: { sleep: () => new Promise((done) => setImmediate(done)) },
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
}

it('marks what waits in each outbox', async () => {
  const onItsWay = reading(async () => outboxRecords(1));
  const waiting = await onItsWay.waiting(['ingress', 'ledger']);
  expect(waiting).toEqual([
    { of: 'ingress', outboxRecords: ['b0'] },
    { of: 'ledger', outboxRecords: ['b0'] },
  ]);
  expect(await onItsWay.hasLeft(waiting ?? [])).toBe(false);
});

it('asks nothing more where nothing waits', async () => {
  const onItsWay = reading(() => Promise.reject(new Error('asked')));
  expect(await onItsWay.hasLeft([{ of: 'ingress', outboxRecords: [] }])).toBe(true);
});

it.each([
  ['the database refuses', () => Promise.reject(new Error('not authorized'))],
  ['the database does not answer', () => new Promise<never>(() => undefined)],
])('gives no result if %s', async (_, found) => {
  const onItsWay = reading(found);
  expect(await onItsWay.waiting(['ingress'])).toBeUndefined();
  expect(await onItsWay.hasLeft([{ of: 'ingress', outboxRecords: ['b0'] }])).toBeUndefined();
});

it('marks either all that waits, or nothing', async () => {
  expect(await reading(async () => outboxRecords(10_000)).waiting(['ingress'])).toHaveLength(1);
  expect(await reading(async () => outboxRecords(10_001)).waiting(['ingress'])).toBeUndefined();
});
