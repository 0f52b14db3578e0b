import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { CLOCK_SKEW_MAX_MS, ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import type { Document } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { webhookDatabaseSchema } from './database-schema.ts';
import {
  CONCURRENCY_PER_ENDPOINT_MAX,
  createTransactions,
  DEADLINE_MS,
  openDispatcher,
  openEndpoint,
  owed,
  status,
} from './deliverer.fixture.ts';
import { type DeliveryStore, newDeliveryDocument, openDeliveryStore } from './store.ts';

const LEASE_MS = (3 * DEADLINE_MS + 10_000) * 1.5;
/** Of one bulkhead: so many are sent at once, and twice as many wait. */
const PLACES = 3 * CONCURRENCY_PER_ENDPOINT_MAX;

let database: Awaited<ReturnType<typeof openDatabase>>;
let store: DeliveryStore;
let endpoint: Awaited<ReturnType<typeof openEndpoint>>;
let running: AsyncDisposableStack;

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
beforeEach(async () => {
  endpoint = await openEndpoint();
  running = new AsyncDisposableStack();
});
afterEach(async () => {
  await running.disposeAsync();
  await endpoint.close();
  await store.collection.deleteMany({});
});

async function open(options?: Parameters<typeof openDispatcher>[3]) {
  const dispatcher = await openDispatcher(database, store, endpoint, options);
  running.use(dispatcher.resources);
  return dispatcher;
}

const many = (count: number, changes: Parameters<typeof owed>[0] = {}) =>
  Array.from({ length: count }, (_, index) => owed({ _id: `po-${index}-completed`, ...changes }));

const eventually = <Value>(check: () => Value) => vi.waitFor(check, { timeout: 10_000, interval: 20 });

const delivered = (count: number) =>
  eventually(async () => expect(await store.collection.countDocuments({ state: 'delivered' })).toBe(count));

test('a webhook that succeeds at once costs one insert and one update', async () => {
  const { create, events } = await open();
  endpoint.answering(status(200));
  await database.db.command({ profile: 2 });
  await create(owed());
  await delivered(1);
  await expect.poll(() => events).toHaveLength(1);
  await database.db.command({ profile: 0 });
  const profile = database.db.collection<{ readonly op: string; readonly command: Document }>(
    'system.profile',
  );
  const written = await profile
    .find({ ns: store.collection.namespace, op: { $in: ['insert', 'update', 'remove'] } })
    .toArray();
  await profile.drop();
  // A transaction that the database aborts is run again, and its writes are in the profile twice.
  const different = new Map(written.map(({ op, command }) => [inspect([op, command['q']]), op]));
  expect([...different.values()]).toEqual(['insert', 'update']);
  expect(endpoint.seen).toHaveLength(1);
});

test('what has no place at its endpoint is written due, and holds nothing up at another', async () => {
  // A round of the loop between the commit and its answer finds what is due, and does not know yet who has the places.
  const { create } = await open({ pauseMs: 60_000 });
  const hanging: ServerResponse[] = [];
  endpoint.answering((response) => void hanging.push(response));
  const born = many(PLACES + 3);
  await create(...born);
  const claimed = { claim: { $exists: true } };
  expect(await store.collection.countDocuments(claimed)).toBe(PLACES);
  await eventually(() => expect(hanging).toHaveLength(CONCURRENCY_PER_ENDPOINT_MAX));
  await create(owed({ _id: 'po-late-completed' }));
  expect(await store.collection.findOne({ _id: 'po-late-completed' })).not.toHaveProperty('claim');
  endpoint.answering(status(200));
  await create(owed({ _id: 'po-other-completed', bulkhead: 'rival payouts' }));
  await eventually(async () =>
    expect(await store.collection.findOne({ _id: 'po-other-completed' })).toMatchObject({
      state: 'delivered',
    }),
  );
  for (const response of hanging) response.writeHead(200).end();
  await delivered(born.length + 2);
});

test('what a crash leaves between commit and call is due after the lease, and sent once', async () => {
  const { deliveries } = await open();
  endpoint.answering(status(200));
  const fromMs = Date.now();
  // Nothing runs after the commit.
  const { inTransaction } = createTransactions(database.client);
  await inTransaction((transaction) =>
    deliveries.create([owed()], { ...transaction, afterCommit: () => undefined }),
  );
  const left = await store.collection.findOne({});
  expect(left?.claim).toBeDefined();
  const leaseMs = (left?.dueAt?.getTime() ?? 0) - fromMs;
  expect(leaseMs).toBeGreaterThanOrEqual(LEASE_MS + CLOCK_SKEW_MAX_MS);
  expect(leaseMs).toBeLessThanOrEqual(LEASE_MS + CLOCK_SKEW_MAX_MS + (Date.now() - fromMs));
  expect(endpoint.seen).toEqual([]);
  await store.collection.updateOne({}, { $set: { dueAt: new Date() } });
  await delivered(1);
  expect(endpoint.seen).toHaveLength(1);
});

test('a process that was frozen before the call until its lease might be over does not call', async () => {
  let freezes = 1;
  const dispatcher = await open({
    crashPoint: (point) => {
      if (point !== 'webhooks.deliver.before-call' || freezes === 0) return;
      freezes -= 1;
      dispatcher.clock.aheadMs = LEASE_MS - DEADLINE_MS - 10_000 + 1;
    },
  });
  endpoint.answering(status(200));
  await dispatcher.create(owed());
  await eventually(async () => expect(await store.collection.findOne({})).not.toHaveProperty('claim'));
  expect(endpoint.seen).toEqual([]);
  expect(await store.collection.findOne({})).toMatchObject({ state: 'pending', attempts: 0 });
});

test('an ordered end delivers what was claimed as it was written', async () => {
  const { create, resources } = await open();
  endpoint.answering(status(200));
  await create(...many(PLACES));
  await resources.disposeAsync();
  expect(await store.collection.countDocuments({ state: 'delivered' })).toBe(PLACES);
});

test('what exists already is neither changed nor sent again', async () => {
  const { create } = await open();
  endpoint.answering(status(200));
  await create(owed());
  await delivered(1);
  await create(owed({ body: '{"another":true}' }), owed({ _id: 'po-2-completed' }));
  await delivered(2);
  expect(endpoint.seen.map(({ headers, body }) => [headers['webhook-id'], body])).toEqual([
    ['po-1-completed', owed().body],
    ['po-2-completed', owed().body],
  ]);
});

test('an outcome whose claim was replaced is dropped alone, not with those that share its transaction', async () => {
  const { deliveries, events } = await open();
  const dueAt = new Date(Date.now() + LEASE_MS);
  const [kept, replaced] = many(2).map((one) => newDeliveryDocument(one, { claim: 'newer', dueAt }));
  if (!kept || !replaced) throw new Error('two are needed');
  await store.collection.insertMany([kept, replaced]);
  const recorded = await Promise.all([
    deliveries.recordOutcome({ delivery: replaced, claim: 'older', state: 'delivered' }),
    deliveries.recordOutcome({ delivery: kept, claim: 'newer', state: 'delivered' }),
  ]);
  expect(recorded).toEqual([false, true]);
  expect(await store.collection.findOne({ _id: replaced._id })).toEqual(replaced);
  expect(await store.collection.findOne({ _id: kept._id })).toMatchObject({ state: 'delivered' });
  expect(events).toMatchObject([{ payload: { deliveryId: kept._id } }]);
});
