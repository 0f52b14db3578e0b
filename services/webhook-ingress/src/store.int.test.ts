import { randomUUID } from 'node:crypto';
import { openDatabase } from '@pesewa/messaging';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Callback } from './domain/callback.ts';
import { type CallbackDocument, type CallbackStore, openCallbackStore } from './store.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
let store: CallbackStore;

beforeAll(async () => {
  const url = process.env['MONGODB_URL'] ?? '';
  database = await openDatabase({ url, database: `test-${randomUUID()}`, appName: 'test' });
  store = await openCallbackStore(database.db);
});
afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

const callback = (changes: Partial<Callback> = {}): Callback => ({
  id: 'cb-1',
  rail: 'upstream',
  kind: 'payout',
  digest: 'd1',
  verdict: 'hint',
  receivedAtMs: 1_000,
  body: Buffer.from('{"raw":"body"}'),
  headers: [{ name: 'user-agent', value: 'rail/1' }],
  peerAddress: '203.0.113.7',
  claim: { reference: 'po-1', status: 'COMPLETED', amount: '20.5', fee: null, reason: null },
  ...changes,
});

const insert = (...callbacks: readonly Callback[]) =>
  database.client.withSession((session) => session.withTransaction(() => store.insert(callbacks, session)));

test('the same bytes are stored once and counted, within a group and later', async () => {
  const other = callback({ id: 'cb-3', digest: 'd2', receivedAtMs: 3_000 });
  expect(await insert(callback(), callback({ id: 'cb-2', receivedAtMs: 2_000 }), other)).toEqual([
    true,
    false,
    true,
  ]);
  expect(await insert(callback({ id: 'cb-4', receivedAtMs: 4_000 }))).toEqual([false]);
  const common = {
    rail: 'upstream',
    kind: 'payout',
    verdict: 'hint',
    reference: 'po-1',
    claimedStatus: 'COMPLETED',
    claimedAmount: '20.5',
  };
  const first = {
    ...common,
    id: 'cb-1',
    digest: 'd1',
    deliveries: 3,
    receivedAt: new Date(1_000),
    lastReceivedAt: new Date(4_000),
  };
  const second = {
    ...common,
    id: 'cb-3',
    digest: 'd2',
    deliveries: 1,
    receivedAt: new Date(3_000),
    lastReceivedAt: new Date(3_000),
  };
  expect(await store.list('po-1', { after: undefined, limit: 10 })).toEqual([first, second]);
  expect(await store.list('po-1', { after: 'cb-1', limit: 10 })).toEqual([second]);
  expect(await store.list('po-2', { after: undefined, limit: 10 })).toEqual([]);
});

test('the same bytes at the same moment, in two transactions, are new once', async () => {
  const racing = await Promise.all(
    Array.from({ length: 8 }, (_, index) => insert(callback({ id: `cb-r${index}`, digest: 'race' }))),
  );
  expect(racing.flat().filter((isFresh) => isFresh)).toHaveLength(1);
});

test('the raw body is kept byte for byte', async () => {
  await insert(callback({ id: 'cb-5', digest: 'd5' }));
  const stored = await database.db.collection<CallbackDocument>('callbacks').findOne({ id: 'cb-5' });
  expect(Buffer.from(stored?.body.buffer ?? []).toString()).toBe('{"raw":"body"}');
  expect(stored).toMatchObject({
    peerAddress: '203.0.113.7',
    headers: [{ name: 'user-agent', value: 'rail/1' }],
  });
});

test('what was rejected is kept in a bounded collection, and opening again leaves it', async () => {
  await store.insertRejected(callback());
  const again = await openCallbackStore(database.db);
  await again.insertRejected(callback());
  const rejected = database.db.collection('rejected_callbacks');
  expect(await rejected.countDocuments()).toBe(2);
  expect(await database.db.listCollections({ name: 'rejected_callbacks' }).next()).toMatchObject({
    options: { capped: true },
  });
});
