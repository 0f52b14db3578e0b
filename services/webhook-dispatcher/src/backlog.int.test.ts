import { randomUUID } from 'node:crypto';
import { systemClock } from '@pesewa/kernel';
import { ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { webhookDatabaseSchema } from './database-schema.ts';
import type { DeliveryDocument } from './documents.ts';
import { createDeliveryMetrics } from './metrics.ts';
import { openDeliveryStore, PENDING_MAX } from './store.ts';

const PENDING = 100_000;
const BULKHEADS = 40;
const BULKHEADS_FAILING = 15;
const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const OLDEST_S = 7_200;

let database: Awaited<ReturnType<typeof openDatabase>>;

beforeAll(async () => {
  const url = process.env['MONGODB_URL'] ?? '';
  database = await openDatabase({ url, database: `test-${randomUUID()}`, appName: 'test' });
  await ensureDatabaseSchema(database.db, webhookDatabaseSchema);
});
afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

/** A delivery of a backlog over many bulkheads, some of which fail; as large as those of payments are. */
function delivery(index: number): DeliveryDocument {
  const bulkhead = index % BULKHEADS;
  return {
    _id: `po-${index}:payout-completed`,
    merchantId: `shop-${bulkhead}`,
    reference: `po-${index}`,
    merchantReference: `M-${index}`,
    kind: 'payout-completed',
    body: 'x'.repeat(900),
    webhookUrl: null,
    bulkhead: `shop-${bulkhead} payouts`,
    causationId: 'ev-1',
    createdAt: new Date(NOW_MS),
    dueAt: new Date(NOW_MS - OLDEST_S * 1_000 + index),
    state: 'pending',
    attempts: 1,
    roundAttempts: bulkhead < BULKHEADS_FAILING && index % 3 === 0 ? 1 : 0,
  };
}

/** The fields that MongoDB's profiler records for a read. */
interface Profiled {
  readonly docsExamined: number;
  readonly keysExamined: number;
}

test('a scrape reads keys alone, and no more of them for a backlog of 100,000 than it says', async () => {
  const store = openDeliveryStore(database.db, 30);
  for (let from = 0; from < PENDING; from += 5_000)
    await store.collection.insertMany(Array.from({ length: 5_000 }, (_, at) => delivery(from + at)));
  const { dueAt: _, ...gone } = delivery(PENDING);
  await store.collection.insertOne({ ...gone, bulkhead: 'well payouts', state: 'delivered' });
  const registry = new Registry();
  createDeliveryMetrics(registry, { store, clock: { ...systemClock, nowMs: () => NOW_MS } });
  await database.db.command({ profile: 2 });
  let scrapes = 0;
  let text = '';
  // A value is missing where the database has not answered in time.
  const scrape = async () => {
    scrapes += 1;
    text = await registry.metrics();
    return text;
  };
  await expect.poll(scrape).toContain(`webhooks_pending ${PENDING_MAX}`);
  await database.db.command({ profile: 0 });
  for (const line of [
    `oldest_due_webhook_seconds ${OLDEST_S}`,
    `webhook_endpoints{state="failing"} ${BULKHEADS_FAILING}`,
    `webhook_endpoints{state="waiting"} ${BULKHEADS - BULKHEADS_FAILING}`,
    'webhooks_exhausted 0',
  ])
    expect(text).toContain(line);
  const profile = database.db.collection<Profiled>('system.profile');
  const reads = await profile.find({ ns: store.collection.namespace }).toArray();
  expect(reads.map(({ docsExamined }) => docsExamined)).toEqual(Array.from({ length: 5 * scrapes }, () => 0));
  const keys = reads.map(({ keysExamined }) => keysExamined).toSorted((one, other) => other - one);
  expect(keys[0]).toBe(PENDING_MAX);
  expect(keys[scrapes]).toBeLessThanOrEqual(2 * BULKHEADS);
});
