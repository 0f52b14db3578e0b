import type { AvailabilityView } from '@pesewa/contracts';
import { createIds, systemClock } from '@pesewa/kernel';
import { leasesOf, type OutgoingEvent, type Transaction } from '@pesewa/messaging';
import { createLogger, createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ENDED_MIN } from './availability.ts';
import { createAvailabilityEvents } from './availability-events.ts';
import { addAvailability, findOpen, readSample, samplePipeline } from './availability-store.ts';
import { paymentIndexes } from './payment-store.ts';

const client = new MongoClient(process.env['MONGODB_URL'] ?? '', { useBigInt64: true });
const db = client.db(`availability-${process.pid}`);
const store = { db, collection: 'payouts', prefix: 'po' } as const;
const payouts = db.collection(store.collection);
const nowMs = Date.UTC(2026, 10, 27, 12);
const MINUTE_MS = 60_000;

beforeAll(() => client.connect());
beforeEach(async () => {
  await db.dropDatabase();
  const indexes = paymentIndexes({ due: 'held', unended: 'INITIALIZED', claimedWithin: ['rail', 'queue'] });
  await payouts.createIndexes([...indexes]);
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

/** A payout accepted so long ago; it took a second. */
function payout(agoMs: number, changes: object = {}) {
  const acceptedAt = new Date(nowMs - agoMs);
  const bytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
  const ids = createIds({ ...systemClock, nowMs: () => acceptedAt.getTime() }, { bytes, fraction: () => 0 });
  const end = new Date(acceptedAt.getTime() + 1_000);
  return {
    reference: ids.next('po'),
    rail: 'upstream',
    currency: 'KES',
    order: { country: 'KEN', channel: 'Mobile Money' },
    status: 'COMPLETED',
    attempts: 1,
    acceptedAt,
    timeline: [
      { what: 'held', at: acceptedAt },
      { what: 'completed', at: end },
    ],
    ...changes,
  };
}

const open = { status: 'INITIALIZED', timeline: [] };
const upstream = { name: 'upstream', isAvailable: () => true };

/** A replica's messaging, and what it emitted. */
function messagingAs(owner: string) {
  const emitted: OutgoingEvent[] = [];
  const emit = (event: OutgoingEvent) => void emitted.push(event);
  const inTransaction = <Value>(work: (transaction: Transaction) => Promise<Value>) =>
    work({ emit } as unknown as Transaction);
  return { messaging: { db, owner, inTransaction }, emitted };
}

test('payments of the hour alone are read, without those that never left for their rail', async () => {
  await payouts.insertMany([
    payout(MINUTE_MS),
    payout(59 * MINUTE_MS, { status: 'FAILED', statusReason: 'TIMEOUT' }),
    payout(61 * MINUTE_MS),
    payout(MINUTE_MS, { status: 'FAILED', attempts: 0, statusReason: 'no cover' }),
    payout(30_000, open),
    payout(3 * 60 * MINUTE_MS, open),
    { ...payout(MINUTE_MS), reference: `ba-${'f'.repeat(32)}` },
  ]);
  const { ended, open: waiting, ...sample } = await readSample(store, nowMs);
  expect(sample).toEqual({ fromMs: nowMs - 60 * MINUTE_MS, isSample: false, isCut: false });
  expect(ended).toMatchObject([
    { rail: 'upstream', status: 'FAILED', reason: 'TIMEOUT', tookMs: 1_000 },
    { country: 'KEN', currency: 'KES', channel: 'Mobile Money', status: 'COMPLETED', tookMs: 1_000 },
  ]);
  expect(waiting).toMatchObject([{ rail: 'upstream', openForMs: 3 * 60 * MINUTE_MS }]);
});

test('however many payments there are, a bounded number is read, spread over the hour, by indexes that are there', async () => {
  const busy = Array.from({ length: 60 }, (_, minute) =>
    Array.from({ length: 150 }, () => payout(minute * MINUTE_MS + 1_000)),
  );
  const old = Array.from({ length: 1_500 }, () => payout(120 * MINUTE_MS, open));
  await payouts.insertMany([...busy.flat(), ...old]);
  const { ended, isSample, open: waiting, isCut } = await readSample(store, nowMs);
  expect([ended.length, isSample, waiting.length, isCut]).toEqual([3_000, true, 1_000, true]);
  const plans = [
    await payouts.aggregate(samplePipeline(store, nowMs - 60 * MINUTE_MS)).explain('executionStats'),
    await findOpen(store, nowMs).explain('executionStats'),
  ].map((plan) =>
    JSON.stringify(plan, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
  );
  const sum = (plan: string | undefined) =>
    [...(plan ?? '').matchAll(/"totalDocsExamined":(\d+)/g)].reduce((all, [, one]) => all + Number(one), 0);
  expect(plans.map(sum)).toEqual([3_000, 1_000]);
  for (const plan of plans) expect(plan).not.toContain('COLLSCAN');
});

test('operators are shown what was measured, merchants what they may know of it, and nothing before', async () => {
  const merchants = ['m-1', 'm-2', 'm-3'];
  const paid = (_: unknown, index: number) => payout(MINUTE_MS, { merchantId: merchants[index % 3] });
  await payouts.insertMany(Array.from({ length: ENDED_MIN }, paid));
  await using scope = new AsyncDisposableStack();
  const operator = new Hono();
  const clock = { ...systemClock, nowMs: () => nowMs };
  const logger = createLogger({ name: 'test', level: 'silent' });
  const opening = async <Opened>(_name: string, opened: Opened | Promise<Opened>) =>
    scope.use((await opened) as Opened & AsyncDisposable);
  const ways = {
    operators: [{ rail: upstream }, { rail: { ...upstream, name: 'other' } }],
    merchants: [{ way: { country: 'KEN' }, rails: [upstream] }],
  };
  const isPaused = ({ merchantId }: { readonly merchantId?: string }) => merchantId === 'paused';
  const tell = await addAvailability(
    { open: opening, operator, clock, logger },
    { messaging: messagingAs('one').messaging, collection: 'payouts', prefix: 'po', isPaused },
    ways,
  );
  expect(tell('demo')).toBeUndefined();
  const app = guardOperator(operator, createOperators('the-shared-token'));
  const ask = () => app.request('/availability', { headers: { authorization: 'Bearer the-shared-token' } });
  expect((await ask()).status).toBe(503);
  await expect.poll(async () => (await ask()).status).toBe(200);
  const shown = (await (await ask()).json()) as AvailabilityView;
  expect(shown).toMatchObject({
    at: '2026-11-27T12:00:00.000Z',
    from: '2026-11-27T11:00:00.000Z',
    isSample: false,
    items: [
      { rail: 'upstream', operatorCode: null, completed: 20, successRate: 1, medianMs: 1_000 },
      { rail: 'other', completed: 0, successRate: null },
    ],
  });
  const known = { country: 'KEN', successRate: JSON.rawJSON('1'), medianSeconds: JSON.rawJSON('1') };
  const told = { from: shown.from, to: shown.at };
  expect(tell('demo')).toMatchObject({ ...told, availability: [{ ...known, status: 'OPERATIONAL' }] });
  expect(tell('paused')).toMatchObject({ ...told, availability: [{ ...known, status: 'CLOSED' }] });
});

test('one replica publishes the status of each way when it begins to, and then only what changes', async () => {
  const [one, two] = [messagingAs('one'), messagingAs('two')];
  const [publish, publishAlso] = [one, two].map(({ messaging }) =>
    createAvailabilityEvents(messaging, 'collection'),
  );
  const measured = { successRate: 0.987, medianMs: 1_200, p95Ms: null };
  const rail = { rail: 'upstream', operatorCode: null, status: 'OPERATIONAL', measured } as const;
  const operator = { ...rail, operatorCode: 'GHMTN' } as const;
  await publish?.([rail, operator], nowMs);
  await publishAlso?.([{ ...rail, status: 'DELAYED' }], nowMs);
  await publish?.([{ ...rail, measured: { ...measured, p95Ms: 9_000 } }, operator], nowMs + 30_000);
  await publish?.([rail, { ...operator, status: 'CLOSED' }], nowMs + 60_000);
  const common = {
    topic: 'railAvailability',
    type: 'pesewa.rails.RailAvailabilityReported',
    causationId: null,
  };
  const figures = { successPermille: 987, medianMs: 1_200n, p95Ms: null };
  const event = (key: string, version: number, payload: object) => ({
    ...common,
    key: `collection:${key}`,
    version: BigInt(version),
    payload: { occurredAt: BigInt(version), kind: 'collection', rail: 'upstream', ...figures, ...payload },
  });
  expect(one.emitted).toEqual([
    event('upstream', nowMs, { operatorCode: null, status: 'OPERATIONAL' }),
    event('upstream:GHMTN', nowMs, { operatorCode: 'GHMTN', status: 'OPERATIONAL' }),
    event('upstream:GHMTN', nowMs + 60_000, { operatorCode: 'GHMTN', status: 'CLOSED' }),
  ]);
  expect(two.emitted).toEqual([]);
  await leasesOf(db).updateOne({ _id: 'availability' }, { $set: { until: new Date(0) } });
  await publishAlso?.([{ ...rail, status: 'DELAYED' }], nowMs + 90_000);
  expect(two.emitted).toEqual([event('upstream', nowMs + 90_000, { operatorCode: null, status: 'DELAYED' })]);
});

test('what could not be published is published in the next round', async () => {
  const { messaging, emitted } = messagingAs('one');
  const rail = { rail: 'upstream', operatorCode: null, status: 'DELAYED' } as const;
  const now = [{ ...rail, measured: { successRate: null, medianMs: null, p95Ms: null } }];
  let isBroken = true;
  const inTransaction: typeof messaging.inTransaction = (work) =>
    isBroken ? Promise.reject(new Error('no primary')) : messaging.inTransaction(work);
  const publish = createAvailabilityEvents({ ...messaging, inTransaction }, 'payout');
  await expect(publish(now, nowMs)).rejects.toThrow('no primary');
  isBroken = false;
  await publish(now, nowMs);
  expect(emitted).toMatchObject([{ key: 'payout:upstream', payload: { status: 'DELAYED', medianMs: null } }]);
});
