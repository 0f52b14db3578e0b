import { DAY_MS } from '@pesewa/kernel';
import { type Database, ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import { openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reconcilerDatabaseSchema } from '../database-schema.ts';
import { awaited } from '../domain/tracked.ts';
import { openWindowPayments } from '../matching/payments.ts';
import { openWorkingStore, type WorkingStore } from '../store.ts';
import { openWalletStore } from '../wallets/store.ts';
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

/** What operations on a collection gave, and how many there were and what they read in all. */
async function profiled<Found>(collection: string, work: () => Promise<Found>) {
  const profile = db.collection('system.profile');
  const ofCollection = { ns: `${db.databaseName}.${collection}` };
  const before = await profile.countDocuments(ofCollection);
  await db.command({ profile: 2 });
  const found = await work();
  await db.command({ profile: 0 });
  const read = await profile.find(ofCollection).sort({ ts: 1 }).skip(before).toArray();
  const sum = (field: string) => read.reduce((all, one) => all + Number(one[field]), 0);
  return { found, reads: read.length, keys: sum('keysExamined'), documents: sum('docsExamined') };
}

it('counts the polls that each rail is owed, and those that are late, by keys alone', async () => {
  const row = (watch: string, minute: number) => ({
    _id: `po-${watch}-${minute}` as never,
    watch,
    dueAt: at(minute),
  });
  const rows = Array.from({ length: 30 }, (_, minute) =>
    row(minute % 3 === 0 ? 'other' : 'upstream', minute),
  );
  const later = Array.from({ length: 300 }, (_, minute) => row('quiet', 100 + minute));
  await db.collection('polls').insertMany([...rows, ...later, { _id: 'po-ended' as never }]);
  const { found, ...read } = await profiled('polls', () => status.duePolls(at(20), at(10)));
  expect(found).toEqual([
    { rail: 'other', dueAt: at(0), due: 7, overdue: 4 },
    { rail: 'quiet', dueAt: at(100), due: 0, overdue: 0 },
    { rail: 'upstream', dueAt: at(1), due: 14, overdue: 6 },
  ]);
  expect(read).toMatchObject({ reads: 3, documents: 0 });
  expect(read.keys).toBeLessThan(40);
  const early = await profiled('polls', () => status.duePolls(new Date(0), new Date(0)));
  expect(early.found.map(({ due }) => due)).toEqual([0, 0, 0]);
  expect(early.reads).toBe(1);
});

it('finds the payment of each rail that nothing has compared and that ended first, in one read of keys alone', async () => {
  const ended = Array.from({ length: 30 }, (_, minute) => ({
    _id: `po-ended-${minute}` as never,
    endedAt: at(minute),
    ...(minute > 2 && { uncompared: minute % 3 === 0 ? 'other' : 'upstream' }),
  }));
  await db.collection('polls').insertMany(ended);
  const payments = openWindowPayments(working.collection);
  const { found, ...read } = await profiled('polls', payments.oldestUncompared);
  expect(found).toEqual([
    { rail: 'other', reference: 'po-ended-3', endedAt: at(3) },
    { rail: 'upstream', reference: 'po-ended-4', endedAt: at(4) },
  ]);
  expect(read).toMatchObject({ reads: 1, documents: 0 });
  expect(read.keys).toBeLessThanOrEqual(4);
});

it('finds the oldest open payment of each kind and state, and counts all and the long open ones, by keys alone', async () => {
  const open = (_id: string, kind: string, openState: string, minute: number) => ({
    _id: _id as never,
    openState,
    terms: { kind },
    openedAt: at(minute),
  });
  const many = Array.from({ length: 300 }, (_, index) =>
    open(`po-many-${index}`, 'payout', 'begun', 100 + index),
  );
  await db
    .collection('polls')
    .insertMany([
      open('co-old', 'collection', 'begun', 1),
      open('po-newer', 'payout', 'begun', 5),
      open('po-oldest', 'payout', 'begun', 2),
      open('po-lost', 'payout', 'not_found', 3),
      ...many,
      { _id: 'po-done' as never, terms: { kind: 'payout' }, openedAt: at(0) },
    ]);
  const { found, ...read } = await profiled('polls', () => status.oldestOpen(at(4)));
  const [lost, oldestOfAll] = [
    { state: 'not_found', reference: 'po-lost', openedAt: at(3) },
    { state: 'begun', reference: 'po-oldest', openedAt: at(2) },
  ];
  expect(found).toEqual([
    { kind: 'payout', states: [oldestOfAll, lost], overdue: { count: 2, oldest: [oldestOfAll, lost] } },
    {
      kind: 'collection',
      states: [{ state: 'begun', reference: 'co-old', openedAt: at(1) }],
      overdue: { count: 1, oldest: [{ state: 'begun', reference: 'co-old', openedAt: at(1) }] },
    },
  ]);
  expect(read).toMatchObject({ reads: 6, documents: 0 });
  expect(read.keys).toBeLessThan(40);
  const young = await profiled('polls', () => status.oldestOpen(at(0)));
  expect(young.found.map(({ overdue }) => overdue.count)).toEqual([0, 0]);
  expect(young.reads).toBe(2);
  const counted = await profiled('polls', status.countOpen);
  expect(counted.found).toEqual({ payout: 303, collection: 1 });
  expect(counted).toMatchObject({ reads: 2, documents: 0 });
  expect(counted.keys).toBeLessThanOrEqual(306);
});

it('keeps since when a rail gives no answer, until it gives one', async () => {
  const wallets = openWalletStore(db);
  await wallets.noteAnswer('upstream', at(1), 'timeout');
  await wallets.noteAnswer('upstream', at(2), 'reset');
  expect(await wallets.silent({})).toEqual([{ _id: 'upstream', since: at(1), why: 'reset' }]);
  await wallets.noteAnswer('upstream', at(3));
  expect(await wallets.silent({})).toEqual([]);
});

it('counts and sums the breaks that stand by kind and currency, without reading them or others', async () => {
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
    one('payment.stuck', 7, 'open', { currency: 'KES', amount: null }),
    one('payment.stuck', 9, 'open', { currency: null, amount: null }),
    one('wallet.drift', 10, 'open', { currency: 'GHS', amount: 2n ** 63n - 1n }),
    one('wallet.drift', 11, 'open', { currency: 'GHS', amount: 2n ** 63n - 1n }),
  ];
  await db.collection('breaks').insertMany([...resolved, ...open]);
  const { found, ...read } = await profiled('breaks', status.openBreaks);
  const stuck = { kind: 'payment.stuck', unknown: 1 };
  expect(found).toEqual([
    { ...stuck, currency: null, count: 1, amount: 0n, since: at(9) },
    { ...stuck, currency: 'KES', count: 2, amount: 500n, since: at(7) },
    // A sum that is too large to be exact hides nothing else.
    { kind: 'wallet.drift', currency: 'GHS', count: 2, unknown: 0, amount: null, since: at(10) },
    {
      kind: 'wallet.drift',
      currency: 'KES',
      count: 1,
      unknown: 0,
      amount: 9_007_199_254_740_993n,
      since: at(9),
    },
  ]);
  expect(read).toMatchObject({ reads: 1, documents: 0 });
  expect(read.keys).toBeLessThanOrEqual(open.length + 1);
});

it('gives the newest day that was closed over all rails', async () => {
  expect(await status.lastClose()).toBeUndefined();
  await db.collection('closes').insertMany([
    { _id: '2026-11-18' as never, stage: 'done', to: at(1), finishedAt: at(1) },
    // It is read once more for late payments, but was done before.
    { _id: '2026-11-19' as never, stage: 'asking', to: at(2), finishedAt: at(2) },
    { _id: '2026-11-20' as never, stage: 'asking', to: at(3) },
    { _id: '2026-11-20.upstream' as never, stage: 'done', to: at(3), finishedAt: at(3) },
  ]);
  expect((await status.lastClose())?._id).toBe('2026-11-19');
});

it('keeps with an answer to a poll how many before it are not kept', async () => {
  const line = { answer: 'pending', atMs: 1_000, lastAtMs: 2_000, times: 2 };
  const answers = [line, { ...line, answer: 'unknown', notKept: 12 }];
  const session = db.client.startSession();
  await session.withTransaction(() => working.save([{ ...awaited('po-long', 0), answers }], session));
  await session.endSession();
  expect((await working.load(['po-long'])).get('po-long')?.answers).toEqual(answers);
});
