import { randomUUID } from 'node:crypto';
import { ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { webhookDatabaseSchema } from './database-schema.ts';
import type { DeliveryDocument } from './documents.ts';
import { listEndpoints } from './endpoint-list.ts';
import { type DeliveryStore, openDeliveryStore } from './store.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
let store: DeliveryStore;

beforeAll(async () => {
  const url = process.env['MONGODB_URL'] ?? '';
  database = await openDatabase({ url, database: `test-${randomUUID()}`, appName: 'test' });
  await ensureDatabaseSchema(database.db, webhookDatabaseSchema);
  store = openDeliveryStore(database.db, 30);
});
afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

const at = (second: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, second));

const delivery = (_id: string, changes: Partial<DeliveryDocument>): DeliveryDocument => ({
  _id,
  merchantId: 'demo',
  reference: _id,
  merchantReference: `M-${_id}`,
  kind: 'payout-completed',
  body: '{}',
  webhookUrl: null,
  bulkhead: 'demo payouts',
  causationId: 'ev-1',
  createdAt: at(30),
  dueAt: at(40),
  state: 'pending',
  attempts: 0,
  roundAttempts: 0,
  ...changes,
});

test('endpoints are those that are owed webhooks, with what they did last; the most failing ones first', async () => {
  const tried = { at: at(20), durationMs: 5 };
  await store.collection.insertMany([
    delivery('po-1', { bulkhead: 'shop payouts', createdAt: at(10) }),
    delivery('po-2', {
      roundAttempts: 2,
      attemptLog: [
        { ...tried, error: 'dns' },
        { ...tried, status: 503 },
      ],
      createdAt: at(20),
      dueAt: at(50),
    }),
    delivery('po-3', {}),
    // Its answer is older than that of po-2, though its status or error sorts behind it.
    delivery('po-10', { attemptLog: [{ at: at(10), status: 504, durationMs: 5 }] }),
    delivery('po-11', { attemptLog: [{ at: at(19), error: 'timeout', durationMs: 5 }] }),
    delivery('po-4', {
      bulkhead: 'bank https://bank.example',
      roundAttempts: 1,
      attemptLog: [{ ...tried, error: 'tls' }],
    }),
    delivery('po-5', {
      bulkhead: 'bank https://bank.example',
      roundAttempts: 1,
      attemptLog: [{ ...tried, error: 'tls' }],
    }),
    delivery('po-9', { bulkhead: 'bank https://bank.example', state: 'exhausted', roundAttempts: 12 }),
    // Resent: the results of its earlier attempts don't count any more.
    delivery('po-6', { bulkhead: 'resent payouts', attempts: 12 }),
    delivery('po-7', { bulkhead: 'gone payouts', state: 'exhausted', roundAttempts: 12 }),
    delivery('po-8', { bulkhead: 'well payouts', state: 'delivered', roundAttempts: 1 }),
  ]);
  const waiting = {
    state: 'waiting',
    pending: 1,
    failing: 0,
    isCut: false,
    lastStatus: null,
    lastError: null,
  };
  expect(await store.endpoints(5_000)).toEqual([
    {
      bulkhead: 'bank https://bank.example',
      state: 'failing',
      pending: 2,
      failing: 2,
      isCut: false,
      oldestCreatedAt: at(30),
      nextAt: at(40),
      lastStatus: null,
      lastError: 'tls',
    },
    {
      bulkhead: 'demo payouts',
      state: 'failing',
      pending: 4,
      failing: 1,
      isCut: false,
      oldestCreatedAt: at(20),
      nextAt: at(40),
      lastStatus: 503,
      lastError: null,
    },
    { ...waiting, bulkhead: 'resent payouts', oldestCreatedAt: at(30), nextAt: at(40) },
    { ...waiting, bulkhead: 'shop payouts', oldestCreatedAt: at(10), nextAt: at(40) },
  ]);
  expect(await store.countExhausted(5_000)).toBe(2);
  const listed = await listEndpoints({ store, health: { listUnhealthy: async () => [] } });
  expect(listed.map(({ merchantId, state, exhausted }) => [merchantId, state, exhausted])).toEqual([
    ['bank', 'failing', 1],
    ['demo', 'failing', 0],
    ['resent', 'waiting', 0],
    ['shop', 'waiting', 0],
    ['gone', 'given_up', 1],
  ]);
});

/** What the work gave, and how many documents and keys the database read for it. */
async function profiled<Value>(work: () => Promise<Value>) {
  await database.db.command({ profile: 2 });
  const value = await work();
  await database.db.command({ profile: 0 });
  const profile = database.db.collection<{ readonly docsExamined: number; readonly keysExamined: number }>(
    'system.profile',
  );
  const reads = await profile.find({ ns: store.collection.namespace, op: { $ne: 'update' } }).toArray();
  await profile.drop();
  const most = (field: 'docsExamined' | 'keysExamined') =>
    Math.max(...reads.map((one) => Number(one[field])));
  return { value, docsExamined: most('docsExamined'), keysExamined: most('keysExamined') };
}

/** Deliveries that were given up, the last attempt of each at this second. */
const givenUp = (bulkhead: string, prefix: string, count: number, second = 0): DeliveryDocument[] =>
  Array.from({ length: count }, (_, index) =>
    delivery(`${prefix}-${String(index).padStart(5, '0')}`, {
      bulkhead,
      state: 'exhausted',
      attemptLog: [{ at: at(second), status: 500, durationMs: 5 }],
    }),
  );

test('what was given up long before is passed over by keys: no read goes through more than a batch', async () => {
  await store.collection.deleteMany({});
  await store.collection.insertMany([
    ...givenUp('demo payouts', 'po-a', 3_500),
    ...givenUp('demo payouts', 'po-b', 2, 30),
    ...givenUp('demo collections', 'co-a', 3, 30),
  ]);
  const { docsExamined, keysExamined } = await profiled(() => store.keep('demo payouts', at(30)));
  expect(await store.collection.countDocuments({ state: 'deferred' })).toBe(2);
  expect(docsExamined).toBe(0);
  expect(keysExamined).toBeLessThanOrEqual(1_001);
});

test('no endpoint is hidden by what another one had given up: each is counted by keys, up to its part of the limit', async () => {
  await store.collection.deleteMany({});
  await store.collection.insertMany([
    ...givenUp('demo payouts', 'po-a', 25_100),
    ...givenUp('shop payouts', 'po-s', 3),
    ...givenUp('shop collections', 'co-s', 5).map((one) => ({ ...one, state: 'deferred' as const })),
  ]);
  const { value, docsExamined } = await profiled(() => store.countByEndpoint('exhausted', 5_000));
  expect([...value]).toEqual(
    expect.arrayContaining([
      ['demo payouts', { count: 25_000, isCut: true }],
      ['shop payouts', { count: 3, isCut: false }],
    ]),
  );
  expect(value.size).toBe(2);
  expect(docsExamined).toBe(0);
  const deferred = await profiled(() => store.countByEndpoint('deferred', 5_000));
  expect([...deferred.value]).toEqual([['shop collections', { count: 5, isCut: false }]]);
  expect(deferred.docsExamined).toBe(0);
  const listed = await listEndpoints({ store, health: { listUnhealthy: async () => [] } });
  expect(listed.find(({ merchantId }) => merchantId === 'demo')).toMatchObject({
    exhausted: 25_000,
    cut: ['exhausted'],
  });
});
