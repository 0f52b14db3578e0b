import { openMessaging } from '@pesewa/messaging';
import { createLogger } from '@pesewa/runtime';
import {
  createTopicReader,
  eventually,
  openStallableProxy,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  topicNameOf,
} from '@pesewa/testkit';
import { beforeAll, expect, test } from 'vitest';
import { createApp } from './app.ts';
import { createCallbacks } from './callbacks.ts';
import { callbackDatabaseSchema } from './database-schema.ts';
import { type Faults, openTestRails, payoutBody, postTo, secretOf, signedAt } from './ingress.fixture.ts';
import { createMetrics } from './metrics.ts';
import { openCallbackStore } from './store.ts';

const path = '/rails/upstream/payouts';
const logger = createLogger({ name: 'test', level: 'silent' });
let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

/** One instance of the service, without its process. */
async function openInstance(
  options: {
    readonly faults?: Faults;
    readonly rail?: object;
    readonly mongodbUrl?: string;
    readonly repassAfterMs?: number;
    readonly storeTimeoutMs?: number;
  } = {},
) {
  const scope = openTestScope({ ...config, MONGODB_URL: options.mongodbUrl ?? config.MONGODB_URL });
  const { clock, ids, metrics } = scope;
  const messaging = await openMessaging(scope, {
    service: 'webhook-ingress',
    databaseSchema: callbackDatabaseSchema,
  });
  const store = openCallbackStore(messaging.db, { keepDays: 400, unverifiedKeepDays: 30 });
  const callbacks = createCallbacks({
    store,
    messaging,
    ids,
    clock,
    logger,
    rail: openTestRails({ clock, faults: options.faults ?? {}, rail: options.rail }),
    repassAfterMs: options.repassAfterMs ?? 60_000,
    storeTimeoutMs: options.storeTimeoutMs ?? 8_000,
    isWithinRate: () => true,
    hasRoom: () => true,
  });
  const app = createApp({
    callbacks,
    clock,
    logger,
    metrics: createMetrics(metrics),
    trustedProxies: 0,
  });
  const post = async (body: string, headers: Record<string, string> = {}) =>
    (await postTo(app)(path, body, headers)).status;
  return { post, store, callbacks, metrics, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() };
}

const newReference = () => `po-${crypto.randomUUID().replaceAll('-', '')}`;

/** The events about a payment, once there are so many. */
async function eventsOf(reference: string, count: number) {
  const read = await createTopicReader(config);
  return eventually(async () => {
    const events = (await read(topicNameOf(config, 'railCallbacks'))).filter(({ key }) => key === reference);
    expect(events).toHaveLength(count);
    return events;
  });
}

test('a thousand duplicates at once, at two instances, have one effect', async () => {
  await using one = await openInstance();
  await using two = await openInstance();
  const reference = newReference();
  const body = payoutBody({ merchantReference: reference });
  const statuses = await Promise.all(
    Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? one : two).post(body)),
  );
  // A rail sends a callback again if it was not accepted in time.
  const taken = statuses.filter((status) => status === 200).length;
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  await eventually(async () => expect(await one.post(body)).toBe(200));
  const [stored, ...others] = await one.store.list({ reference, limit: 10 });
  expect(others).toEqual([]);
  expect(stored).toMatchObject({ state: 'passed_on', timesPassedOn: 1 });
  expect(stored?.deliveries).toBeGreaterThanOrEqual(taken + 1);
  expect(await eventsOf(reference, 1)).toMatchObject([{ payload: { reference, proven: false } }]);
  const counted = (await one.metrics.metrics()) + (await two.metrics.metrics());
  expect(counted.match(/callbacks_total\{[^}]*result="stored"[^}]*\} 1$/gm)).toHaveLength(1);
  expect(counted).toMatch(/callback_durable_seconds_count\{rail="upstream",kind="payout"\} [1-9]/);
});

test('a failed callback is driven by its redelivery, in one transaction with its event', async () => {
  const faults: Faults = { translation: new TypeError('a defect') };
  await using instance = await openInstance({ faults });
  const reference = newReference();
  const body = payoutBody({ merchantReference: reference });
  expect(await instance.post(body)).toBe(503);
  const failed = await instance.store.list({ state: 'failed', limit: 10 });
  expect(failed).toMatchObject([{ state: 'failed', reference: null, deliveries: 1 }]);
  faults.translation = undefined;
  expect(await Promise.all(Array.from({ length: 20 }, () => instance.post(body)))).toEqual(
    Array.from({ length: 20 }, () => 200),
  );
  expect(await instance.store.list({ state: 'failed', limit: 10 })).toEqual([]);
  expect(await instance.store.list({ reference, limit: 10 })).toMatchObject([
    { id: failed[0]?.id, state: 'passed_on', failure: null, timesPassedOn: 1, deliveries: 21 },
  ]);
  await eventsOf(reference, 1);
});

test('a callback is passed on again after a quiet time, and by hand', async () => {
  await using instance = await openInstance({ repassAfterMs: 0 });
  const reference = newReference();
  const body = payoutBody({ merchantReference: reference });
  for (const _ of [1, 2]) expect(await instance.post(body)).toBe(200);
  const [stored] = await instance.store.list({ reference, limit: 10 });
  expect(await instance.callbacks.redrive(stored?.id ?? '')).toEqual({ ok: true, value: 'passed_on' });
  const events = await eventsOf(reference, 3);
  expect(new Set(events.map(({ payload }) => payload['eventId'])).size).toBe(3);
  expect(await instance.store.list({ reference, limit: 10 })).toMatchObject([
    { timesPassedOn: 3, deliveries: 2 },
  ]);
});

test('other bytes under a known id are stored and published as a hint, at any instance, once', async () => {
  const rail = { callbacks: 'proven', callbackSecrets: [secretOf(1)] };
  await using one = await openInstance({ rail });
  await using two = await openInstance({ rail });
  const reference = newReference();
  const id = `msg-${reference}`;
  const bodies = ['COMPLETED', 'FAILED'].map((transactionStatus) =>
    payoutBody({ merchantReference: reference, transactionStatus }),
  );
  const signed = (body: string) => signedAt(Date.now(), body, { id });
  for (const body of bodies)
    for (const instance of [one, two]) expect(await instance.post(body, signed(body))).toBe(200);
  expect(await one.store.list({ reference, limit: 10 })).toMatchObject([
    { claimedStatus: 'COMPLETED', deliveries: 2, conflicts: 1 },
    { claimedStatus: 'FAILED', deliveries: 2, timesPassedOn: 1 },
  ]);
  expect(await eventsOf(reference, 2)).toMatchObject([
    { payload: { claimedStatus: 'COMPLETED', proven: true } },
    { payload: { claimedStatus: 'FAILED', proven: false } },
  ]);
});

test('a callback that turns out to be none is dismissed in its document', async () => {
  const faults: Faults = { translation: new TypeError('a defect') };
  await using instance = await openInstance({ faults });
  const body = payoutBody({ merchantReference: newReference() });
  expect(await instance.post(body)).toBe(503);
  const [failed] = await instance.store.list({ state: 'failed', limit: 10 });
  expect(await instance.store.countFailed()).toBe(1);
  faults.translation = undefined;
  faults.malformed = true;
  expect(await instance.post(body)).toBe(400);
  expect(await instance.store.countFailed()).toBe(0);
  expect(await instance.store.list({ state: 'dismissed', limit: 10 })).toMatchObject([
    { id: failed?.id, failure: 'body.malformed' },
  ]);
  faults.malformed = false;
  expect(await instance.callbacks.redrive(failed?.id ?? '')).toEqual({ ok: true, value: 'passed_on' });
});

test('while the database is out of reach, every callback is answered 503 in time', async () => {
  await using way = await openStallableProxy(config.MONGODB_URL);
  await using instance = await openInstance({ mongodbUrl: way.url, storeTimeoutMs: 2_000 });
  const reference = newReference();
  expect(await instance.post(payoutBody({ merchantReference: reference }))).toBe(200);
  way.stall();
  const startedMs = performance.now();
  expect(await instance.post(payoutBody({ merchantReference: newReference() }))).toBe(503);
  expect(await instance.post('garbage')).toBe(503);
  expect(performance.now() - startedMs).toBeLessThan(8_000);
}, 90_000);
