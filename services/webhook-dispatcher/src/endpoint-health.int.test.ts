import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { DAY_MS } from '@pesewa/kernel';
import { ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { webhookDatabaseSchema } from './database-schema.ts';
import { openDeferred } from './deferred.ts';
import { openDispatcher, openEndpoint, owed, status } from './deliverer.fixture.ts';
import { createEndpointHealth } from './endpoint-health.ts';
import { listEndpoints } from './endpoint-list.ts';
import { type DeliveryStore, newDeliveryDocument, openDeliveryStore } from './store.ts';

const ENDPOINT = 'demo payouts';
const limits = { warnAfterMs: DAY_MS, disableAfterMs: 5 * DAY_MS };

let database: Awaited<ReturnType<typeof openDatabase>>;
let store: DeliveryStore;
let endpoint: Awaited<ReturnType<typeof openEndpoint>>;
let dispatcher: Awaited<ReturnType<typeof openDispatcher>>;

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
  dispatcher = await openDispatcher(database, store, endpoint, { deadlineMs: 10_000 });
});
afterEach(async () => {
  await dispatcher.resources.disposeAsync();
  await endpoint.close();
  await store.collection.deleteMany({});
  await dispatcher.health.collection.deleteMany({});
});

const inState = (id: string, state: string) =>
  vi.waitFor(async () => expect(await store.collection.findOne({ _id: id })).toMatchObject({ state }), {
    timeout: 30_000,
    interval: 20,
  });
const endpointEvents = () =>
  dispatcher.events.filter(({ type }) => type.startsWith('pesewa.webhooks.WebhookEndpoint'));
const healthOf = (name = ENDPOINT) => dispatcher.health.collection.findOne({ _id: name });

/** Ends the attempts of a claimed delivery, as a process would record them, each at its time. */
async function fail(process: ReturnType<typeof createEndpointHealth>, atMs: number) {
  const delivery = newDeliveryDocument(owed());
  const attempt = { at: new Date(atMs), status: 500, durationMs: 1 };
  const change = { delivery, claim: 'c', state: 'pending', dueAtMs: atMs, attempt } as const;
  await dispatcher.inTransaction((transaction) => process.record([change], atMs, transaction));
}

/** Has the endpoint fail for five days, after which it is disabled. */
async function disable(process = createEndpointHealth(dispatcher.health, limits)) {
  const atMs = Date.now() - 5 * DAY_MS;
  for (let day = 0; day <= 5; day += 1) await fail(process, atMs + day * DAY_MS);
}

test('an endpoint is warned and then disabled, each once, although several processes see it fail', async () => {
  const processes = [1, 2, 3].map(() => createEndpointHealth(dispatcher.health, limits));
  const atMs = Date.now();
  for (let day = 0; day <= 6; day += 1)
    await Promise.all(processes.map((process) => fail(process, atMs + day * DAY_MS)));
  expect(endpointEvents()).toMatchObject([
    {
      type: 'pesewa.webhooks.WebhookEndpointWarned',
      key: 'demo',
      causationId: 'ev-1',
      payload: { merchantId: 'demo', endpoint: 'payouts', failingSince: BigInt(atMs), lastSuccessAt: null },
    },
    { type: 'pesewa.webhooks.WebhookEndpointDisabled', payload: { failingSince: BigInt(atMs) } },
  ]);
  expect(await healthOf()).toMatchObject({ state: 'disabled', failingSince: new Date(atMs) });
  expect(await healthOf()).not.toHaveProperty('forgetAt');
});

test('a disabled endpoint gets nothing; what it is owed is kept, and sent once an operator enables it', async () => {
  await dispatcher.resources.disposeAsync();
  const waiting = Array.from({ length: 5 }, (_, index) => owed({ _id: `po-kept${index}-completed` }));
  const [exhausting, ...others] = waiting;
  await store.collection.insertMany(
    [exhausting ?? owed(), ...others].map((one) => ({ ...newDeliveryDocument(one), roundAttempts: 2 })),
  );
  await disable();
  endpoint.answering(status(200));
  dispatcher = await openDispatcher(database, store, endpoint, { deadlineMs: 10_000 });
  await dispatcher.create(owed({ _id: 'po-new-completed' }));
  for (const { _id } of waiting) await inState(_id, 'deferred');
  await inState('po-new-completed', 'deferred');
  expect(endpoint.seen).toEqual([]);
  expect(await store.collection.findOne({ _id: 'po-new-completed' })).not.toHaveProperty('dueAt');
  expect(await store.collection.countDocuments({ forgetAt: { $exists: true } })).toBe(0);
  const [listed] = await listEndpoints({ store, health: dispatcher.health });
  expect(listed).toMatchObject({
    merchantId: 'demo',
    endpoint: 'payouts',
    state: 'disabled',
    deferred: 6,
    pending: 0,
  });
  expect(await store.countWaiting(ENDPOINT)).toBe(6);

  const enable = () =>
    dispatcher.inTransaction((transaction) =>
      dispatcher.endpoints.enable(ENDPOINT, 'ama', Date.now(), transaction),
    );
  expect(await enable()).toMatchObject({ ok: true });
  expect(await enable()).toEqual({ ok: false, refusal: 'not_disabled' });
  dispatcher.watch.wake();
  for (const { _id } of waiting) await inState(_id, 'delivered');
  await inState('po-new-completed', 'delivered');
  expect(endpoint.seen).toHaveLength(6);
  expect(endpointEvents()).toMatchObject([
    { type: 'pesewa.webhooks.WebhookEndpointEnabled', payload: { endpoint: 'payouts', enabledBy: 'ama' } },
  ]);
});

/** Deliveries that were given up, the last attempt of each at this time. */
const givenUp = (prefix: string, count: number, atMs: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...newDeliveryDocument(owed({ _id: `po-${prefix}${index}-completed` })),
    state: 'exhausted' as const,
    reason: 'every attempt failed',
    attempts: 12,
    roundAttempts: 12,
    attemptLog: [{ at: new Date(atMs), status: 500, durationMs: 1 }],
    forgetAt: new Date(atMs + 90 * DAY_MS),
  }));

test('what was given up while the endpoint failed is sent as well once it is enabled, and nothing from before', async () => {
  await dispatcher.resources.disposeAsync();
  await disable();
  const failingMs = (await healthOf())?.failingSince?.getTime() ?? 0;
  const [before, since] = [givenUp('before', 1, failingMs - 1), givenUp('since', 3, failingMs + DAY_MS)];
  await store.collection.insertMany([...before, ...since]);
  endpoint.answering(status(200));
  dispatcher = await openDispatcher(database, store, endpoint, { deadlineMs: 10_000 });
  for (const { _id } of since) await inState(_id, 'deferred');
  expect(await store.collection.countDocuments({ state: 'deferred', forgetAt: { $exists: true } })).toBe(0);
  await dispatcher.inTransaction((transaction) =>
    dispatcher.endpoints.enable(ENDPOINT, 'ama', Date.now(), transaction),
  );
  dispatcher.watch.wake();
  for (const { _id } of since) await inState(_id, 'delivered');
  await inState('po-before0-completed', 'exhausted');
  expect(endpoint.seen).toHaveLength(3);
});

test('thousands that were given up are kept in batches; what a crash left of them is kept by the next process', async () => {
  const since = new Date(Date.now() - DAY_MS);
  const before = givenUp('before', 1_200, since.getTime() - 1);
  await store.collection.insertMany([...before, ...givenUp('since', 2_500, since.getTime())]);
  let batches = 0;
  const crashing = new Proxy(store.collection, {
    get: (collection, name) => {
      if (name === 'updateMany' && (batches += 1) > 2) throw new Error('crash');
      const found: unknown = Reflect.get(collection, name);
      return typeof found === 'function' ? (found.bind(collection) as unknown) : found;
    },
  });
  const counts = () =>
    Promise.all(
      (['deferred', 'exhausted'] as const).map((state) => store.collection.countDocuments({ state })),
    );
  await expect(openDeferred(crashing).keep(ENDPOINT, since)).rejects.toThrow('crash');
  // The first two batches had all that is older.
  expect(await counts()).toEqual([800, 2_900]);
  await store.keep(ENDPOINT, since);
  expect(await counts()).toEqual([2_500, 1_200]);
  await store.keep(ENDPOINT, since);
  expect(await counts()).toEqual([2_500, 1_200]);
});

test('webhooks that an endpoint gave up as it began to fail are sent once it is enabled: the first, and those with it', async () => {
  const held: ServerResponse[] = [];
  endpoint.answering((response) => void held.push(response));
  await dispatcher.create(owed());
  await vi.waitFor(() => expect(held).toHaveLength(1));
  await dispatcher.create(owed({ _id: 'po-2-completed' }));
  await vi.waitFor(() => expect(held).toHaveLength(2));
  endpoint.answering(status(200));
  // What was sent first is answered last.
  for (const [index, id] of [
    [1, 'po-2-completed'],
    [0, 'po-1-completed'],
  ] as const) {
    held[index]?.writeHead(410).end();
    await inState(id, 'exhausted');
  }
  await dispatcher.health.collection.updateOne({ _id: ENDPOINT }, { $set: { state: 'disabled' } });
  dispatcher.watch.wake();
  for (const id of ['po-1-completed', 'po-2-completed']) await inState(id, 'deferred');
  await dispatcher.inTransaction((transaction) =>
    dispatcher.endpoints.enable(ENDPOINT, 'ama', Date.now(), transaction),
  );
  dispatcher.watch.wake();
  for (const id of ['po-1-completed', 'po-2-completed']) await inState(id, 'delivered');
});

test('a disabled endpoint is enabled by another address of the merchant', async () => {
  endpoint.answering(status(500), status(200));
  await dispatcher.create(owed());
  await inState('po-1-completed', 'delivered');
  await dispatcher.health.collection.updateOne({ _id: ENDPOINT }, { $set: { state: 'disabled' } });
  expect((await healthOf())?.address).toBeTypeOf('string');
  await dispatcher.endpoints.refresh();
  await dispatcher.create(owed({ _id: 'po-2-completed' }));
  await inState('po-2-completed', 'deferred');
  dispatcher.watch.wake();
  await vi.waitFor(() => expect(dispatcher.endpoints.isDisabled(ENDPOINT)).toBe(true));
  await inState('po-2-completed', 'deferred');

  const { merchants } = dispatcher;
  const demo = merchants['demo'];
  if (demo)
    merchants['demo'] = { ...demo, webhooks: { ...demo.webhooks, payoutsUrl: `${endpoint.origin}/new` } };
  dispatcher.watch.wake();
  await inState('po-2-completed', 'delivered');
  expect(endpoint.seen.at(-1)?.path).toBe('/new');
  expect(endpointEvents()).toMatchObject([{ payload: { enabledBy: null } }]);
});

test('a delivery that succeeds at once writes nothing of its endpoint; a failure does, and the next success', async () => {
  endpoint.answering(status(200), status(500), status(200));
  await dispatcher.create(owed());
  await inState('po-1-completed', 'delivered');
  expect(await healthOf()).toBeNull();
  await dispatcher.create(owed({ _id: 'po-2-completed' }));
  await inState('po-2-completed', 'delivered');
  expect(await healthOf()).toMatchObject({
    state: 'healthy',
    version: 2,
    failingSince: null,
  });
  expect((await healthOf())?.lastSuccessAt).toBeInstanceOf(Date);
  expect((await healthOf())?.forgetAt).toBeInstanceOf(Date);
});

test('a success that another process had counts, although it took the endpoint for healthy', async () => {
  const [failing, delivering] = [1, 2].map(() => createEndpointHealth(dispatcher.health, limits));
  if (!failing || !delivering) throw new Error('two are needed');
  const atMs = Date.now();
  await fail(failing, atMs);
  const delivery = newDeliveryDocument(owed());
  const attempt = { at: new Date(atMs + 1), status: 200, durationMs: 1 };
  const change = { delivery, claim: 'c', state: 'delivered', attempt } as const;
  await dispatcher.inTransaction((transaction) => delivering.record([change], atMs + 2, transaction));
  expect(await healthOf()).toMatchObject({ state: 'failing' });
  await delivering.refresh();
  await dispatcher.inTransaction((transaction) => delivering.recordMissed(atMs + 2, transaction));
  expect(await healthOf()).toMatchObject({ state: 'healthy', lastSuccessAt: new Date(atMs + 1) });
});

test('every process knows which endpoints fail, right from its start', async () => {
  const failing = createEndpointHealth(dispatcher.health, limits);
  await fail(failing, Date.now());
  const started = createEndpointHealth(dispatcher.health, limits);
  await started.refresh();
  for (const process of [failing, started])
    expect([process.isHealthy(ENDPOINT), process.isHealthy('rival payouts')]).toEqual([false, true]);
});

test('what has no address is discarded, with an event', async () => {
  await dispatcher.create(owed({ _id: 'po-6-completed', merchantId: 'silent', bulkhead: 'silent payouts' }));
  await inState('po-6-completed', 'discarded');
  await expect
    .poll(() => dispatcher.events)
    .toMatchObject([
      { type: 'pesewa.webhooks.WebhookDiscarded', payload: { deliveryId: 'po-6-completed', attempts: 0 } },
    ]);
});
