import { randomUUID } from 'node:crypto';
import { createDirectory, createDirectoryAdmin } from '@pesewa/directory';
import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import { createOperators, guardOperator } from '@pesewa/runtime';
import { createWebhookSecret, verifyWebhook } from '@pesewa/signatures';
import { Hono } from 'hono';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { webhookDatabaseSchema } from './database-schema.ts';
import { openDispatcher, openEndpoint, owed, status } from './deliverer.fixture.ts';
import { createInspections } from './inspections.ts';
import { addOperatorRoutes } from './operator.ts';
import { type DeliveryStore, newDeliveryDocument, openDeliveryStore } from './store.ts';

const ID = 'po-1-completed';
const TOKEN = 'a-token-of-operators';
const DEADLINE_MS = 2_000;

type Database = Awaited<ReturnType<typeof openDatabase>>;
type Body = Readonly<Record<string, unknown>>;

let database: Database;
let directory: Database;
let store: DeliveryStore;
let secret: string;
let endpoint: Awaited<ReturnType<typeof openEndpoint>>;
let dispatcher: Awaited<ReturnType<typeof openDispatcher>>;
let operator: Hono;

beforeAll(async () => {
  const url = process.env['MONGODB_URL'] ?? '';
  const name = `test-${randomUUID()}`;
  database = await openDatabase({ url, database: name, appName: 'test' });
  directory = await openDatabase({ url, database: `${name}-d`, appName: 'test' });
  await ensureDatabaseSchema(database.db, webhookDatabaseSchema);
  await createDirectoryAdmin(directory.db).ensureIndexes();
  store = openDeliveryStore(database.db, 30);
});
afterAll(async () => {
  for (const one of [database, directory]) {
    await one.db.dropDatabase();
    await one[Symbol.asyncDispose]();
  }
});
beforeEach(async () => {
  endpoint = await openEndpoint();
  const admin = createDirectoryAdmin(directory.db);
  const created = await admin.createMerchant({
    id: 'demo',
    name: 'Demo',
    wallets: [],
    payoutsUrl: `${endpoint.origin}/payouts`,
    limits: { requestsPerSecond: 50 },
  });
  if (!created.ok) throw new Error(created.refusal.message);
  secret = created.value.webhookSecret;
  const merchants = createDirectory({ db: directory.db, clock: systemClock, ttlMs: 0 });
  dispatcher = await openDispatcher(database, store, endpoint, {
    deadlineMs: DEADLINE_MS,
    directory: merchants,
  });
  operator = routes();
});
afterEach(async () => {
  await dispatcher.resources.disposeAsync();
  await endpoint.close();
  await store.collection.deleteMany({});
  await dispatcher.health.collection.deleteMany({});
  await directory.db.collection('merchants').deleteMany({});
});

/** The operator API, put together as the service does it. */
function routes(): Hono {
  const { deliveries, health, endpoints, inTransaction, clock, watch, sender } = dispatcher;
  const ids = createIds(systemClock, systemRandom);
  const api = new Hono();
  addOperatorRoutes(api, {
    deliveries,
    store,
    enabling: { store, health, endpoints, messaging: { inTransaction }, clock, enabled: watch.wake },
    inspections: createInspections({ ...dispatcher, store, sender, deadlineMs: DEADLINE_MS, clock, ids }),
  });
  return guardOperator(api, createOperators(TOKEN));
}

async function call(method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const answer = await operator.request(path, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Body };
}

async function delivered() {
  endpoint.answering(status(500), status(200));
  await dispatcher.create(owed());
  return vi.waitFor(
    async () => {
      const delivery = await store.find(ID);
      if (delivery?.state !== 'delivered') throw new Error('not delivered');
      return delivery;
    },
    { timeout: 30_000, interval: 20 },
  );
}

const isSigned = (headers: unknown, body: string | undefined, by: string) =>
  verifyWebhook({
    headers: headers as Record<string, string>,
    body: body ?? '',
    secrets: [by],
    nowMs: systemClock.nowMs(),
    toleranceSeconds: 60,
  }).ok;

test('a webhook is shown as its last attempt sent it, but for the signature', async () => {
  const stored = await delivered();
  const shown = await call('GET', `/deliveries/${ID}`);
  expect(shown).toMatchObject({
    status: 200,
    body: {
      id: ID,
      merchantId: 'demo',
      state: 'delivered',
      attempts: 2,
      lastStatus: 200,
      createdAt: stored.createdAt.toISOString(),
      dueAt: null,
      address: `${endpoint.origin}/payouts`,
    },
  });
  const sent = endpoint.seen.at(-1);
  expect(shown.body['body']).toBe(sent?.body);
  const headers = shown.body['headers'] as Record<string, string>;
  expect(Object.keys(headers).toSorted()).toEqual([
    'content-type',
    'user-agent',
    'webhook-id',
    'webhook-timestamp',
  ]);
  expect(sent?.headers).toMatchObject(headers);
  expect(await store.find(ID)).toEqual(stored);
});

test('it is shown with the address where it would go now, and with none where there is none', async () => {
  const admin = createDirectoryAdmin(directory.db);
  await delivered();
  const urls = { payoutsUrl: `${endpoint.origin}/new`, collectionsUrl: null };
  await admin.setWebhooks('demo', urls);
  expect((await call('GET', `/deliveries/${ID}`)).body['address']).toBe(urls.payoutsUrl);
  await admin.setWebhooks('demo', { ...urls, payoutsUrl: null });
  expect((await call('GET', `/deliveries/${ID}`)).body['address']).toBeNull();
});

test('it is signed as an attempt now would be, by the newest secret, and nothing is sent or changed', async () => {
  const stored = await delivered();
  const newest = createWebhookSecret(systemRandom);
  await createDirectoryAdmin(directory.db).setWebhooks('demo', {
    payoutsUrl: `${endpoint.origin}/payouts`,
    collectionsUrl: null,
    secrets: [newest, secret],
  });
  const signed = await call('POST', `/deliveries/${ID}/sign`);
  expect(signed).toMatchObject({
    status: 200,
    body: { body: owed().body, headers: { 'webhook-id': ID, 'content-type': 'application/json' } },
  });
  const { headers } = signed.body;
  expect([isSigned(headers, owed().body, newest), isSigned(headers, owed().body, secret)]).toEqual([
    true,
    false,
  ]);
  expect(endpoint.seen).toHaveLength(2);
  expect(await store.find(ID)).toEqual(stored);
});

test('what is not known is not found, and nothing is sent', async () => {
  await delivered();
  const missing = { status: 404, body: { code: 'not_found' } };
  expect(await call('GET', '/deliveries/po-9-completed')).toMatchObject(missing);
  expect(await call('POST', '/deliveries/po-9-completed/sign')).toMatchObject(missing);
  expect(await call('POST', '/merchants/nobody/test-webhook', { kind: 'payout' })).toMatchObject(missing);
  await directory.db.collection('merchants').deleteMany({});
  expect(await call('POST', `/deliveries/${ID}/sign`)).toMatchObject(missing);
  expect(await call('GET', `/deliveries/${ID}`)).toMatchObject({ status: 200, body: { address: null } });
  expect(endpoint.seen).toHaveLength(2);
});

test('a sample is sent to the own address, signed, and no delivery is stored for it', async () => {
  endpoint.answering(status(200));
  const tested = await call('POST', '/merchants/demo/test-webhook', { kind: 'payout' });
  const [sent] = endpoint.seen;
  expect(tested).toMatchObject({
    status: 200,
    body: {
      id: sent?.headers['webhook-id'],
      address: `${endpoint.origin}/payouts`,
      finding: 'delivered',
      rule: null,
      status: 200,
      error: null,
      deadlineMs: DEADLINE_MS,
      sentBody: sent?.body,
    },
  });
  expect(sent?.path).toBe('/payouts');
  expect(isSigned(sent?.headers, sent?.body, secret)).toBe(true);
  expect(endpoint.seen).toHaveLength(1);
  expect(await store.collection.countDocuments()).toBe(0);
  expect(await dispatcher.health.collection.countDocuments()).toBe(0);
});

test('a sample that fails says why, is sent once, and counts for nothing', async () => {
  const sample = () => call('POST', '/merchants/demo/test-webhook', { kind: 'payout' });
  endpoint.answering(status(503), status(302, { location: '/elsewhere' }), () => undefined);
  expect((await sample()).body).toMatchObject({ finding: 'answered', status: 503 });
  expect((await sample()).body).toMatchObject({ finding: 'redirected', status: 302 });
  expect((await sample()).body).toMatchObject({ finding: 'no_answer', status: null, error: 'timeout' });
  expect(endpoint.seen.map(({ path }) => path)).toEqual(['/payouts', '/payouts', '/payouts']);
  await createDirectoryAdmin(directory.db).setWebhooks('demo', {
    payoutsUrl: 'https://169.254.169.254/latest',
    collectionsUrl: null,
  });
  expect((await sample()).body).toMatchObject({ finding: 'address_refused', rule: 'address.not_public' });
  const none = await call('POST', '/merchants/demo/test-webhook', { kind: 'collection' });
  expect(none.body).toMatchObject({ finding: 'no_address', address: null });
  const unknownKind = await call('POST', '/merchants/demo/test-webhook', { kind: 'refund' });
  expect(unknownKind).toMatchObject({ status: 400, body: { code: 'invalid' } });
  expect(endpoint.seen).toHaveLength(3);
  expect(await dispatcher.health.collection.countDocuments()).toBe(0);
});

test('enabling an endpoint sends what was given up since it fails, even if nothing has kept it yet', async () => {
  const failingSince = new Date(Date.now() - 86_400_000);
  const document = { state: 'disabled' as const, address: null, failingSince, version: 1 };
  const times = { lastFailureAt: failingSince, lastSuccessAt: null };
  await dispatcher.health.collection.insertOne({ _id: 'demo payouts', ...document, ...times });
  const attemptLog = [{ at: new Date(), status: 410, durationMs: 1 }];
  await store.collection.insertOne({
    ...newDeliveryDocument(owed()),
    state: 'exhausted',
    attemptLog,
    forgetAt: new Date(Date.now() + 86_400_000),
  });
  endpoint.answering(status(200));
  const enable = () => call('POST', '/endpoints/enable', { merchantId: 'demo', endpoint: 'payouts' });
  expect(await enable()).toMatchObject({ status: 200, body: { waiting: 1, enabled: true } });
  expect(await enable()).toMatchObject({ status: 409, body: { code: 'not_disabled' } });
  await vi.waitFor(async () => expect(await store.find(ID)).toMatchObject({ state: 'delivered' }), {
    timeout: 30_000,
    interval: 20,
  });
  expect(endpoint.seen).toHaveLength(1);
});
