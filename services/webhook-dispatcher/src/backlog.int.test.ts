import { randomUUID } from 'node:crypto';
import type { Merchant } from '@pesewa/directory';
import { DAY_MS, systemClock } from '@pesewa/kernel';
import { ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { webhookDatabaseSchema } from './database-schema.ts';
import { CONCURRENCY_PER_ENDPOINT_MAX, openDispatcher, openEndpoint, secrets } from './deliverer.fixture.ts';
import type { DeliveryDocument } from './documents.ts';
import { openHealthStore } from './health-store.ts';
import { createDeliveryMetrics } from './metrics.ts';
import { type DeliveryStore, openDeliveryStore, PENDING_MAX } from './store.ts';

const BACKLOG = 100_000;
/** What one endpoint is owed and is not due yet. */
const LATER = 5_000;
const BULKHEADS = 40;
const BULKHEADS_FAILING = 15;
const NOW_MS = systemClock.nowMs();
const OLDEST_S = 7_200;
const isFailing = (bulkhead: number) => bulkhead < BULKHEADS_FAILING;
const nameOf = (bulkhead: number) => `shop-${bulkhead} payouts`;
const failing = new Set(Array.from({ length: BULKHEADS_FAILING }, (_, bulkhead) => nameOf(bulkhead)));

let store: DeliveryStore;
let database: Awaited<ReturnType<typeof openDatabase>>;

beforeAll(async () => {
  const url = process.env['MONGODB_URL'] ?? '';
  database = await openDatabase({ url, database: `test-${randomUUID()}`, appName: 'test' });
  await ensureDatabaseSchema(database.db, webhookDatabaseSchema);
  store = openDeliveryStore(database.db, 30);
  for (let from = 0; from < BACKLOG; from += 5_000)
    await store.collection.insertMany(Array.from({ length: 5_000 }, (_, at) => delivery(from + at, 0)));
  const others = Array.from({ length: BULKHEADS - 1 }, (_, at) => delivery(BACKLOG + at, at + 1));
  const { dueAt: _, ...gone } = delivery(BACKLOG + BULKHEADS, 0);
  const later = Array.from({ length: LATER }, (_, at) => ({
    ...delivery(2 * BACKLOG + at, 1),
    dueAt: new Date(NOW_MS + DAY_MS + at),
  }));
  await store.collection.insertMany([
    ...others,
    ...later,
    { ...gone, bulkhead: 'well payouts', state: 'delivered' },
  ]);
});
afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

/** A due delivery as large as those of payments are; what failing endpoints are owed is due for longer. */
function delivery(index: number, bulkhead: number): DeliveryDocument {
  return {
    _id: `po-${index}:payout-completed`,
    merchantId: `shop-${bulkhead}`,
    reference: `po-${index}`,
    merchantReference: `M-${index}`,
    kind: 'payout-completed',
    body: 'x'.repeat(900),
    webhookUrl: null,
    bulkhead: nameOf(bulkhead),
    causationId: 'ev-1',
    createdAt: new Date(NOW_MS),
    dueAt: new Date(NOW_MS - OLDEST_S * 1_000 - (isFailing(bulkhead) ? 2 * BACKLOG - index : 0)),
    state: 'pending',
    attempts: 1,
    roundAttempts: 0,
  };
}

/** The fields that MongoDB's profiler records for a read. */
interface Profiled {
  readonly docsExamined?: number;
  readonly keysExamined?: number;
}

/** What MongoDB reads of deliveries while this goes on. */
async function profiled(work: () => Promise<void>): Promise<readonly Profiled[]> {
  await database.db.command({ profile: 2 });
  try {
    await work();
  } finally {
    await database.db.command({ profile: 0 });
  }
  const profile = database.db.collection<Profiled>('system.profile');
  const reads = await profile.find({ ns: store.collection.namespace }).toArray();
  await profile.drop();
  return reads;
}

test('a scrape reads keys alone, and no more of them for a backlog of 100,000 than it says', async () => {
  const registry = new Registry();
  createDeliveryMetrics(registry, {
    store,
    health: openHealthStore(database.db, 30),
    endpoints: { isHealthy: (endpoint) => !failing.has(endpoint) },
    clock: { ...systemClock, nowMs: () => NOW_MS },
  });
  let scrapes = 0;
  let text = '';
  // A value is missing where the database has not answered in time.
  const scrape = async () => {
    scrapes += 1;
    text = await registry.metrics();
    return text;
  };
  const reads = await profiled(async () => {
    await expect.poll(scrape).toContain(`webhooks_pending ${PENDING_MAX}`);
  });
  for (const line of [
    `oldest_due_webhook_seconds ${OLDEST_S}`,
    `webhook_endpoints{state="failing"} ${BULKHEADS_FAILING}`,
    `webhook_endpoints{state="waiting"} ${BULKHEADS - BULKHEADS_FAILING}`,
    'webhooks_exhausted 0',
  ])
    expect(text).toContain(line);
  expect(reads.map(({ docsExamined }) => docsExamined)).toEqual(Array.from({ length: 3 * scrapes }, () => 0));
  const keys = reads.map(({ keysExamined = 0 }) => keysExamined).toSorted((one, other) => other - one);
  expect(keys[0]).toBe(PENDING_MAX);
  expect(keys[scrapes]).toBeLessThanOrEqual(2 * BULKHEADS);
});

test('a list of endpoints shows each, however much another is owed', async () => {
  const endpoints = await store.endpoints(60_000);
  expect(endpoints).toHaveLength(BULKHEADS);
  const [first, second, ...others] = endpoints;
  expect(first).toMatchObject({ bulkhead: nameOf(0), pending: 1_250, failing: 0, state: 'waiting' });
  expect(second).toMatchObject({ bulkhead: nameOf(1), pending: 1_250 });
  expect(others.every(({ pending }) => pending === 1)).toBe(true);
});

test('a claim finds what is due at other endpoints, and reads no backlog of one that has no place', async () => {
  const endpoint = await openEndpoint();
  // The first endpoint never answers, and takes all the places that it may have.
  endpoint.answering((response) => {
    if (response.req.url !== '/dead') response.writeHead(200).end();
  });
  const webhooks = { collectionsUrl: null, secrets };
  const merchantOf = (id: string): Pick<Merchant, 'id' | 'webhooks'> => ({
    id,
    webhooks: { ...webhooks, payoutsUrl: `${endpoint.origin}/${id === 'shop-0' ? 'dead' : 'living'}` },
  });
  const directory = { find: async (id: string) => merchantOf(id) as Merchant };
  const resources = new AsyncDisposableStack();
  const seenAt = (path: string) => endpoint.seen.filter((seen) => seen.path === path).length;
  const reads = await profiled(async () => {
    const dispatcher = await openDispatcher(database, store, endpoint, { directory, deadlineMs: 60_000 });
    resources.use(dispatcher.resources);
    await vi.waitFor(() => expect(seenAt('/living')).toBe(BULKHEADS - 1), { timeout: 30_000 });
  });
  expect(seenAt('/dead')).toBe(CONCURRENCY_PER_ENDPOINT_MAX);
  expect(Math.max(...reads.map(({ keysExamined = 0 }) => keysExamined))).toBeLessThan(2_000);
  await Promise.all([resources.disposeAsync(), endpoint.close()]);
});
