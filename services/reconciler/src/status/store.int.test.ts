import { DAY_MS } from '@pesewa/kernel';
import { type Database, ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import { openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBreakStore } from '../breaks/store.ts';
import { reconcilerDatabaseSchema } from '../database-schema.ts';
import { awaited } from '../domain/tracked.ts';
import { openWindowPayments } from '../matching/payments.ts';
import { openWorkingStore, type WorkingStore } from '../store.ts';
import type { RailWallets } from '../wallets/looks.ts';
import { openSilentRails } from './silent-rails.ts';
import { openStatusStore, type StatusStore } from './store.ts';

const resources = new AsyncDisposableStack();
let db: Database['db'];
let working: WorkingStore;
let status: StatusStore;

const at = (minute: number) => new Date(Date.UTC(2026, 0, 2, 0, minute));

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  const scope = resources.use(openTestScope(config));
  const database = `${config.DATABASE_PREFIX}status`;
  ({ db } = await scope.open(
    'database',
    openDatabase({ url: config.MONGODB_URL, database, appName: 'test' }),
  ));
  await ensureDatabaseSchema(db, reconcilerDatabaseSchema);
  working = openWorkingStore(db, { paymentMs: 800 * DAY_MS, unknownMs: DAY_MS });
  status = openStatusStore(db, working.collection);
});

afterAll(async () => {
  await db.dropDatabase();
  await resources.disposeAsync();
});

/** How many keys and documents the latest profiled operation read. */
async function examined(collection: string): Promise<{ readonly keys: number; readonly documents: number }> {
  const profile = db.collection('system.profile');
  const [newest] = await profile
    .find({ ns: `${db.databaseName}.${collection}` })
    .sort({ ts: -1 })
    .limit(1)
    .toArray();
  return { keys: Number(newest?.['keysExamined']), documents: Number(newest?.['docsExamined']) };
}

it('counts the polls that a rail is owed, and those that are late, by keys alone', async () => {
  const rows = Array.from({ length: 30 }, (_, minute) => ({
    _id: `po-${minute}` as never,
    watch: minute % 3 === 0 ? 'other' : 'upstream',
    dueAt: at(minute),
  }));
  await db.collection('polls').insertMany([...rows, { _id: 'po-ended' as never }]);
  // Of minutes 0 to 20 those that are no multiple of three, and of these the first 11 minutes.
  expect(await status.duePolls('upstream', at(20), at(10))).toEqual({
    due: 14,
    overdue: 7,
    oldestDueAt: at(1),
  });
  expect(await status.duePolls('nowhere', at(20), at(10))).toEqual({ due: 0, overdue: 0, oldestDueAt: null });
  expect(await status.duePolls('upstream', at(0), at(0))).toEqual({ due: 0, overdue: 0, oldestDueAt: null });
});

it('finds the rails with payments to ask about, with a key or two for each', async () => {
  await db.command({ profile: 2 });
  expect(await status.watched()).toEqual(['other', 'upstream']);
  await db.command({ profile: 0 });
  const { keys, documents } = await examined('polls');
  expect(documents).toBe(0);
  expect(keys).toBeLessThanOrEqual(4);
});

it('finds the payment of each rail that nothing has compared and that ended first, by keys alone', async () => {
  const ended = Array.from({ length: 30 }, (_, minute) => ({
    _id: `po-ended-${minute}` as never,
    endedAt: at(minute),
    ...(minute > 2 && { uncompared: minute % 3 === 0 ? 'other' : 'upstream' }),
  }));
  await db.collection('polls').insertMany(ended);
  const profile = db.collection('system.profile');
  const ofPolls = { ns: `${db.databaseName}.polls` };
  const before = await profile.countDocuments(ofPolls);
  await db.command({ profile: 2 });
  expect(await openWindowPayments(working.collection).oldestUncompared()).toEqual([
    { rail: 'other', reference: 'po-ended-3', endedAt: at(3) },
    { rail: 'upstream', reference: 'po-ended-4', endedAt: at(4) },
  ]);
  await db.command({ profile: 0 });
  const read = await profile.find(ofPolls).sort({ ts: 1 }).skip(before).toArray();
  expect(read.map(({ docsExamined }) => Number(docsExamined))).toEqual([0, 0, 0]);
  for (const { keysExamined } of read) expect(Number(keysExamined)).toBeLessThanOrEqual(4);
});

it('finds the oldest open payment of each kind and state', async () => {
  const open = (_id: string, kind: string, openState: string, minute: number) => ({
    _id: _id as never,
    openState,
    terms: { kind },
    openedAt: at(minute),
  });
  await db
    .collection('polls')
    .insertMany([
      open('co-old', 'collection', 'begun', 1),
      open('po-newer', 'payout', 'begun', 5),
      open('po-oldest', 'payout', 'begun', 2),
      open('po-lost', 'payout', 'not_found', 3),
      { _id: 'po-done' as never, terms: { kind: 'payout' }, openedAt: at(0) },
    ]);
  expect(await status.oldestOpen()).toEqual([
    { kind: 'collection', state: 'begun', reference: 'co-old', openedAt: at(1) },
    { kind: 'payout', state: 'begun', reference: 'po-oldest', openedAt: at(2) },
    { kind: 'payout', state: 'not_found', reference: 'po-lost', openedAt: at(3) },
  ]);
});

it('finds the open payments that began before a time, the oldest first', async () => {
  const { count, oldest } = await status.overdueOpen('payout', at(4));
  expect(count).toBe(2);
  expect(oldest.map(({ reference, state }) => [reference, state])).toEqual([
    ['po-oldest', 'begun'],
    ['po-lost', 'not_found'],
  ]);
  expect(await status.overdueOpen('collection', at(1))).toEqual({ count: 0, oldest: [] });
});

it('keeps since when a rail gives no answer, until it gives one', async () => {
  let nowMs = at(1).getTime();
  let answer: Awaited<ReturnType<RailWallets['balances']>> = { kind: 'unknown', why: 'timeout' };
  const silent = openSilentRails(db, { nowMs: () => nowMs });
  const rail = silent.noting({ name: 'upstream', balances: async () => answer });
  await rail.balances();
  nowMs = at(2).getTime();
  answer = { kind: 'unknown', why: 'reset' };
  expect(await rail.balances()).toEqual(answer);
  expect(await silent.list()).toEqual([{ _id: 'upstream', since: at(1), why: 'reset' }]);
  answer = { kind: 'answered', wallets: [] };
  await rail.balances();
  expect(await silent.list()).toEqual([]);
});

it('counts the breaks that stand, by kind, and sums them by currency, without reading them or others', async () => {
  const one = (
    kind: string,
    minute: number,
    standing: 'open' | 'resolved',
    money: { readonly currency: string | null; readonly amount: bigint | null },
  ) => ({
    ...money,
    _id: `${kind}/${minute}` as never,
    reference: `po-${minute}`,
    kind,
    status: standing,
    openedAt: at(0),
    since: at(minute),
  });
  const resolved = Array.from({ length: 50 }, (_, minute) =>
    one('payment.stuck', 100 + minute, 'resolved', { currency: 'KES', amount: 1n }),
  );
  const open = [
    one('wallet.drift', 9, 'open', { currency: 'KES', amount: -9_007_199_254_740_993n }),
    one('payment.stuck', 8, 'open', { currency: 'KES', amount: 500n }),
    one('payment.stuck', 7, 'open', { currency: 'GHS', amount: null }),
    one('payment.stuck', 9, 'open', { currency: null, amount: null }),
  ];
  await db.collection('breaks').insertMany([...resolved, ...open]);
  await db.command({ profile: 2 });
  const store = openBreakStore(db);
  expect(await store.countOpen()).toEqual(
    new Map([
      ['payment.stuck', { count: 3, since: at(7) }],
      ['wallet.drift', { count: 1, since: at(9) }],
    ]),
  );
  expect(await store.sumOpen()).toEqual([
    { currency: 'GHS', amount: 0n, count: 1, unknown: 1, since: at(7) },
    { currency: 'KES', amount: 9_007_199_254_741_493n, count: 2, unknown: 0, since: at(8) },
  ]);
  await db.command({ profile: 0 });
  const { keys, documents } = await examined('breaks');
  expect(keys).toBeLessThanOrEqual(open.length + 1);
  expect(documents).toBe(0);
});

it('gives the newest day that was closed over all rails', async () => {
  expect(await status.lastClose()).toBeUndefined();
  await db.collection('closes').insertMany([
    { _id: '2026-11-18' as never, stage: 'done', to: at(1), finishedAt: at(1) },
    // It is read once more for late payments, but was done before.
    { _id: '2026-11-19' as never, stage: 'asking', to: at(2), finishedAt: at(2) },
    { _id: '2026-11-20' as never, stage: 'asking', to: at(3) },
    { _id: '2026-11-20.upstream' as never, stage: 'done', to: at(3), finishedAt: at(3) },
    { _id: '2026-11-20T00:00:00.000Z--2026-11-20T01:00:00.000Z' as never, stage: 'done', finishedAt: at(3) },
  ]);
  expect((await status.lastClose())?._id).toBe('2026-11-19');
});

it('keeps with a line of a timeline how many before it are not kept, and reads rows from before that', async () => {
  const line = { what: 'poll', detail: 'pending', atMs: 1_000, lastAtMs: 2_000, times: 2 } as const;
  const timeline = [line, { ...line, detail: 'unknown', notKept: 12 }];
  const session = db.client.startSession();
  await session.withTransaction(() => working.save([{ ...awaited('po-long', 0), timeline }], session));
  await session.endSession();
  expect((await working.load(['po-long'])).get('po-long')?.timeline).toEqual(timeline);
});
