import { randomUUID } from 'node:crypto';
import { ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { webhookDatabaseSchema } from './database-schema.ts';
import type { DeliveryQuery } from './delivery-lists.ts';
import type { DeliveryDocument } from './documents.ts';
import { type DeliveryStore, openDeliveryStore } from './store.ts';

const COUNT = 2_000;
const PAGE = 5;

let database: Awaited<ReturnType<typeof openDatabase>>;
let store: DeliveryStore;

const idOf = (index: number) => `po-${String((index * 7) % COUNT).padStart(4, '0')}-completed`;
const at = (index: number) => new Date(Math.floor(index / 4) * 1_000);
const stateOf = (index: number) =>
  index % 50 === 0 ? 'exhausted' : index % 51 === 0 ? 'pending' : 'delivered';

const endpointOf = (index: number) => (index % 6 === 0 ? 'collections' : 'payouts');

/** Half are of the merchant demo, four of each second; their ids are in another order than their times. */
function delivery(index: number): DeliveryDocument {
  const merchantId = index % 2 === 0 ? 'demo' : 'demo-2';
  return {
    _id: idOf(index),
    merchantId,
    reference: idOf(index),
    merchantReference: `M-${index}`,
    kind: 'payout-completed',
    body: '{}',
    webhookUrl: null,
    bulkhead: `${merchantId} ${endpointOf(index)}`,
    causationId: 'ev-1',
    createdAt: at(index),
    dueAt: at(index),
    state: stateOf(index),
    attempts: 1,
    roundAttempts: 1,
  };
}
const all = Array.from({ length: COUNT }, (_, index) => delivery(index));

beforeAll(async () => {
  const url = process.env['MONGODB_URL'] ?? '';
  database = await openDatabase({ url, database: `test-${randomUUID()}`, appName: 'test' });
  await ensureDatabaseSchema(database.db, webhookDatabaseSchema);
  store = openDeliveryStore(database.db, 30);
  await store.collection.insertMany(all);
});
afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

/** All pages of a list, and how many documents MongoDB read for the costliest of them. */
async function listed(query: Omit<DeliveryQuery, 'limit' | 'after'>) {
  await database.db.command({ profile: 2 });
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const page = await store.list({ ...query, after, limit: PAGE });
    if (!page) throw new Error('a page was not found');
    ids.push(...page.map(({ _id }) => _id));
    after = page.length === PAGE ? page.at(-1)?._id : undefined;
  } while (after !== undefined);
  await database.db.command({ profile: 0 });
  const profile = database.db.collection<{ readonly docsExamined: number }>('system.profile');
  const reads = await profile.find({ ns: store.collection.namespace }).toArray();
  await profile.drop();
  return { ids, docsExamined: Math.max(...reads.map(({ docsExamined }) => docsExamined)) };
}

const idsWhere = (wanted: (one: DeliveryDocument) => boolean) =>
  all
    .filter(wanted)
    .toSorted(
      (one, other) => one.createdAt.getTime() - other.createdAt.getTime() || (one._id < other._id ? -1 : 1),
    )
    .map(({ _id }) => _id);

test("a merchant's webhooks of a time are listed in the order of creation, each once, and no other is read", async () => {
  const [from, to] = [at(400), at(480)];
  const { ids, docsExamined } = await listed({
    merchantId: 'demo',
    from: from.toISOString(),
    to: to.toISOString(),
  });
  expect(ids).toEqual(
    idsWhere(({ merchantId, createdAt }) => merchantId === 'demo' && createdAt >= from && createdAt < to),
  );
  expect(ids).toHaveLength(40);
  expect(docsExamined).toBeLessThanOrEqual(PAGE + 2);
});

test.each(['exhausted', 'pending'] as const)(
  "a merchant's webhooks that are %s are found without those that were delivered",
  async (state) => {
    const { ids, docsExamined } = await listed({ merchantId: 'demo', state });
    const wanted = idsWhere((one) => one.merchantId === 'demo' && one.state === state);
    expect(ids).toEqual(wanted);
    expect(docsExamined).toBeLessThanOrEqual(wanted.length);
  },
);

test.each(['exhausted', 'pending'] as const)(
  "those of one of a merchant's endpoints that are %s are listed without those of another",
  async (state) => {
    const { ids, docsExamined } = await listed({ merchantId: 'demo', endpoint: 'collections', state });
    expect(ids).toEqual(idsWhere((one) => one.bulkhead === 'demo collections' && one.state === state));
    expect(ids.length).toBeGreaterThan(5);
    expect(docsExamined).toBeLessThanOrEqual(40);
  },
);

test.each(['exhausted', 'pending'] as const)('all that are %s are listed by id', async (state) => {
  const { ids, docsExamined } = await listed({ state });
  expect(ids).toEqual(idsWhere((one) => one.state === state).toSorted());
  expect(docsExamined).toBeLessThanOrEqual(PAGE);
});

test('a list stays in its place while what it shows is resent, and says where a place is gone', async () => {
  const first = await store.list({ merchantId: 'demo', limit: PAGE });
  const last = first?.at(-1)?._id ?? '';
  const before = await store.list({ merchantId: 'demo', after: last, limit: PAGE });
  await store.makeDueNow(last, 1);
  const after = await store.list({ merchantId: 'demo', after: last, limit: PAGE });
  expect(after?.map(({ _id }) => _id)).toEqual(before?.map(({ _id }) => _id));
  expect(await store.list({ merchantId: 'demo', after: 'po-gone', limit: PAGE })).toBeUndefined();
});

test('a list that goes on after an older webhook begins no earlier than it is asked to', async () => {
  const [older, newer] = [idOf(0), idOf(800)];
  const from = at(400).toISOString();
  const beginning = await store.list({ merchantId: 'demo', from, limit: PAGE });
  const goingOn = await store.list({ merchantId: 'demo', from, after: older, limit: PAGE });
  expect(goingOn).toEqual(beginning);
  expect(goingOn?.map(({ createdAt }) => createdAt >= at(400))).toEqual(Array(PAGE).fill(true));
  const later = await store.list({ merchantId: 'demo', from, after: newer, limit: PAGE });
  const withoutFrom = await store.list({ merchantId: 'demo', after: newer, limit: PAGE });
  expect(later).toEqual(withoutFrom);
});
