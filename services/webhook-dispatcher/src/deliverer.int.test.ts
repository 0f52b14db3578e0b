import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { systemClock } from '@pesewa/kernel';
import { ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import { verifyWebhook } from '@pesewa/signatures';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { webhookDatabaseSchema } from './database-schema.ts';
import {
  openDispatcher,
  openEndpoint,
  owed,
  PER_MERCHANT_MAX,
  secrets,
  status,
} from './deliverer.fixture.ts';
import { type DeliveryStore, newDeliveryDocument, openDeliveryStore } from './store.ts';

const clock = systemClock;
const KEEP_DAYS = 90;

type Database = Awaited<ReturnType<typeof openDatabase>>;

let database: Database;
let store: DeliveryStore;
let endpoint: Awaited<ReturnType<typeof openEndpoint>>;
let dispatcher: Awaited<ReturnType<typeof openDispatcher>>;

beforeAll(async () => {
  const url = process.env['MONGODB_URL'] ?? '';
  database = await openDatabase({ url, database: `test-${randomUUID()}`, appName: 'test' });
  await ensureDatabaseSchema(database.db, webhookDatabaseSchema);
  store = openDeliveryStore(database.db, KEEP_DAYS);
});
afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => {
  endpoint = await openEndpoint();
  dispatcher = await openDispatcher(database, store, endpoint);
});
afterEach(async () => {
  await dispatcher.resources.disposeAsync();
  await endpoint.close();
  await store.collection.deleteMany({});
});

async function ended(id = 'po-1-completed') {
  return vi.waitFor(
    async () => {
      const delivery = await store.collection.findOne({ _id: id });
      if (delivery === null || delivery.state === 'pending') throw new Error(`${id} has not ended`);
      return delivery;
    },
    { timeout: 10_000, interval: 20 },
  );
}

test('what has ended is deleted a time later, with its attempts, and nothing that is still owed', async () => {
  const indexes = await store.collection.indexes();
  expect(indexes).toContainEqual(expect.objectContaining({ key: { forgetAt: 1 }, expireAfterSeconds: 0 }));
  const keepMs = KEEP_DAYS * 86_400_000;
  endpoint.answering(status(500), status(200));
  const createdAtMs = clock.nowMs();
  await dispatcher.create(owed());
  expect(await store.collection.findOne({})).not.toHaveProperty('forgetAt');
  const { forgetAt } = await ended();
  expect(forgetAt?.getTime()).toBeGreaterThanOrEqual(createdAtMs + keepMs);
  expect(forgetAt?.getTime()).toBeLessThanOrEqual(clock.nowMs() + keepMs);
  expect(await store.listAttempts('po-1-completed')).toHaveLength(2);
  // A resent delivery is kept until it has ended again.
  await store.makeDueNow('po-1-completed', clock.nowMs() + 60_000);
  expect(await store.collection.findOne({})).not.toHaveProperty('forgetAt');
});

test('a webhook is delivered once, signed over the stored bytes by every secret', async () => {
  endpoint.answering(status(200));
  await dispatcher.create(owed(), owed());
  await dispatcher.create(owed({ body: '{"another":true}' }));
  expect(await ended()).toMatchObject({ state: 'delivered', attempts: 1, attemptLog: [{ status: 200 }] });
  expect(endpoint.seen).toHaveLength(1);
  const [call] = endpoint.seen;
  expect(call).toMatchObject({ path: '/payouts', body: owed().body });
  expect(call?.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': 'po-1-completed' });
  const headers = call?.headers as Record<string, string>;
  for (const secret of secrets) {
    const proof = {
      headers,
      body: call?.body ?? '',
      secrets: [secret],
      nowMs: clock.nowMs(),
      toleranceSeconds: 10,
    };
    expect(verifyWebhook(proof)).toMatchObject({ ok: true });
  }
  await expect.poll(() => dispatcher.events).toHaveLength(1);
  expect(dispatcher.events).toMatchObject([
    {
      topic: 'webhooks',
      key: 'demo',
      causationId: 'ev-1',
      type: 'pesewa.webhooks.WebhookDelivered',
      payload: { deliveryId: 'po-1-completed', merchantId: 'demo', reference: 'po-1', attempts: 1 },
    },
  ]);
});

test('500, then 200: tried again with the same id and body', async () => {
  endpoint.answering(status(500), status(200));
  await dispatcher.create(owed());
  expect(await ended()).toMatchObject({ state: 'delivered', attempts: 2 });
  expect(endpoint.seen.map(({ headers, body }) => [headers['webhook-id'], body])).toEqual([
    ['po-1-completed', owed().body],
    ['po-1-completed', owed().body],
  ]);
  expect(await store.listAttempts('po-1-completed')).toMatchObject([{ status: 500 }, { status: 200 }]);
  expect(dispatcher.heard).toEqual(['answered', 'answered', 'delivered']);
});

test('a redirect is not followed and counts as a failure; in the end the delivery is exhausted', async () => {
  endpoint.answering(status(302, { location: '/elsewhere' }));
  await dispatcher.create(owed({ _id: 'po-2-failed' }));
  expect(await ended('po-2-failed')).toMatchObject({
    state: 'exhausted',
    attempts: 3,
    attemptLog: [{ status: 302 }, { status: 302 }, { status: 302 }],
    reason: 'every attempt failed',
  });
  expect(endpoint.seen.map(({ path }) => path)).toEqual(['/payouts', '/payouts', '/payouts']);
  await expect.poll(() => dispatcher.events).toHaveLength(1);
  expect(dispatcher.events).toMatchObject([
    { type: 'pesewa.webhooks.WebhookExhausted', payload: { attempts: 3 } },
  ]);
});

test('an exhausted delivery is resent with the same id, on a schedule from its start', async () => {
  endpoint.answering(status(410), status(500), status(204));
  await dispatcher.create(owed({ _id: 'po-3-completed' }));
  expect(await ended('po-3-completed')).toMatchObject({ state: 'exhausted', attempts: 1 });
  expect(await dispatcher.deliveries.resend('po-3-completed')).toBe(true);
  expect(await ended('po-3-completed')).toMatchObject({ state: 'delivered', attempts: 3, roundAttempts: 2 });
  expect(new Set(endpoint.seen.map(({ headers }) => headers['webhook-id']))).toEqual(
    new Set(['po-3-completed']),
  );
  expect(await dispatcher.deliveries.resend('po-4-completed')).toBe(false);
});

test('a body that never ends is cut, and its 2xx counts', async () => {
  endpoint.answering((response) => void response.writeHead(200).write('slow'));
  await dispatcher.create(owed({ _id: 'po-5-completed' }));
  expect(await ended('po-5-completed')).toMatchObject({ state: 'delivered', attempts: 1 });
});

test('a collection goes to its own address, or to the merchant’s', async () => {
  endpoint.answering(status(200));
  const kind = 'collection-completed';
  await dispatcher.create(
    owed({ _id: 'co-1-completed', kind, webhookUrl: `${endpoint.origin}/own` }),
    owed({ _id: 'co-2-completed', kind }),
  );
  await ended('co-1-completed');
  await ended('co-2-completed');
  expect(new Set(endpoint.seen.map(({ path }) => path))).toEqual(new Set(['/collections', '/own']));
});

test('no address discards, an inner address exhausts, and neither is called', async () => {
  await dispatcher.create(
    owed({ _id: 'po-6-completed', merchantId: 'silent' }),
    owed({ _id: 'po-7-completed', merchantId: 'inner' }),
  );
  expect(await ended('po-6-completed')).toMatchObject({ state: 'discarded', attempts: 0 });
  expect(await ended('po-7-completed')).toMatchObject({
    state: 'exhausted',
    attempts: 1,
    attemptLog: [{ error: 'refused' }],
    reason: 'address refused',
  });
  expect(endpoint.seen).toEqual([]);
});

test('a bulkhead takes so many at once; those turned away spend no attempt', async () => {
  const waiting: ServerResponse[] = [];
  endpoint.answering((response) => void waiting.push(response));
  const born = Array.from({ length: 12 }, (_, index) => owed({ _id: `po-bulkhead${index}-completed` }));
  await dispatcher.create(...born);
  let most = 0;
  await vi.waitFor(
    () => {
      most = Math.max(most, waiting.length);
      for (const response of waiting.splice(0)) response.writeHead(200).end();
      if (endpoint.seen.length < born.length) throw new Error('not all have come');
    },
    { timeout: 10_000, interval: 50 },
  );
  expect(most).toBeLessThanOrEqual(2);
  for (const { _id } of born) expect(await ended(_id)).toMatchObject({ state: 'delivered', attempts: 1 });
});

test('a claim that was replaced records nothing', async () => {
  const delivery = newDeliveryDocument(owed(), { claim: 'newer', dueAt: new Date(clock.nowMs() + 60_000) });
  await store.collection.insertOne(delivery);
  const late = { delivery, claim: 'older', state: 'delivered' } as const;
  expect(await dispatcher.deliveries.recordOutcome(late)).toBe(false);
  expect(await store.collection.findOne({})).toEqual(delivery);
  expect(dispatcher.events).toEqual([]);
});

test('dead origins of one merchant hold up no other merchant, however much they are owed', async () => {
  await dispatcher.resources.disposeAsync();
  const hanging: ServerResponse[] = [];
  endpoint.answering((response) => void hanging.push(response));
  const born = Array.from({ length: 200 }, (_, index) =>
    owed({
      _id: `co-dead${index}-completed`,
      kind: 'collection-completed',
      webhookUrl: `${endpoint.origin}/dead`,
      bulkhead: `demo https://${index % 40}.example`,
    }),
  );
  await store.collection.insertMany(born.map((one) => newDeliveryDocument(one)));
  dispatcher = await openDispatcher(database, store, endpoint, { deadlineMs: 60_000 });
  await vi.waitFor(() => expect(hanging).toHaveLength(PER_MERCHANT_MAX), { timeout: 10_000 });
  const rival = { merchantId: 'rival', bulkhead: 'rival payouts' };
  await dispatcher.create(owed({ _id: 'po-rival-completed', ...rival }));
  await store.collection.insertOne(newDeliveryDocument(owed({ _id: 'po-late-completed', ...rival })));
  const paths = () => endpoint.seen.map(({ path }) => path).filter((path) => path !== '/dead');
  await vi.waitFor(() => expect(paths()).toEqual(['/rival', '/rival']), { timeout: 10_000 });
  expect(hanging).toHaveLength(PER_MERCHANT_MAX + 2);
  const claimed = { merchantId: 'demo', claim: { $exists: true } };
  expect(await store.collection.countDocuments(claimed)).toBe(PER_MERCHANT_MAX);
  expect(await store.collection.countDocuments({ attempts: { $gt: 0 } })).toBe(0);
  for (const response of hanging) response.writeHead(200).end();
  endpoint.answering(status(200));
  await ended('co-dead199-completed');
});

test('an endpoint that fails is tried with one delivery at a time, until it answers', async () => {
  const open = { now: 0, most: 0 };
  const failing = (response: ServerResponse) => {
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    setImmediate(() => {
      open.now -= 1;
      response.writeHead(500).end();
    });
  };
  endpoint.answering(status(500), status(500), failing);
  const born = Array.from({ length: 4 }, (_, index) => owed({ _id: `po-failing${index}-completed` }));
  for (const one of born) await dispatcher.create(one);
  for (const { _id } of born) expect(await ended(_id)).toMatchObject({ state: 'exhausted', attempts: 3 });
  open.most = 0;
  const counted = Promise.withResolvers<void>();
  endpoint.answering((response) => void counted.promise.then(() => failing(response)));
  const later = Array.from({ length: 4 }, (_, index) => owed({ _id: `po-later${index}-completed` }));
  await dispatcher.create(...later);
  expect(await store.collection.countDocuments({ state: 'pending', claim: { $exists: true } })).toBe(1);
  counted.resolve();
  for (const { _id } of later) expect(await ended(_id)).toMatchObject({ state: 'exhausted', attempts: 3 });
  expect(open.most).toBe(1);
});
