import { type Database, openDatabase } from '@pesewa/messaging';
import { prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BatchLedger, openBatchLedger } from './batches.fixture.ts';
import type { Instruction } from './domain/instructions.ts';
import { ofNoBreak } from './domain/posting.fixture.ts';
import type { SharedPlace, Statement, StatementPage, Sums, WalletPlace } from './statement.ts';
import { createStatements, type Statements } from './statements.ts';

const FLOAT = 'float:upstream:KES';
const HOUR_MS = 3_600_000;

let database: Database;
let ledger: BatchLedger;
let statements: Statements;
let nowMs = 0;

/** One batch an hour, from the first hour on; the chains alternate. */
const scenario: readonly {
  readonly topic: string;
  readonly partition: number;
  readonly batch: Instruction[];
}[] = Array.from({ length: 12 }, (_, index) => {
  const payout = { ...base(`po-${index}`), amount: 100n, fee: 10n };
  const batches: Instruction[][] = [
    [{ ...base(`cm-${index}`), kind: 'fund', amount: 1_000n }],
    [
      { ...payout, kind: 'hold', rail: 'upstream' },
      { ...payout, kind: 'capture', rail: 'upstream', railFee: 5n },
      { ...base(`co-${index}`), kind: 'collect', received: 50n, fee: 2n, rail: 'upstream', railFee: 1n },
    ],
    [
      { ...order(`cm-${index}`), kind: 'fundFloat', rail: 'upstream' },
      { ...order(`cm-s${index}`), kind: 'suspense', rail: 'upstream', direction: 'surplus', ...ofNoBreak },
    ],
  ];
  return {
    topic: index % 2 === 0 ? 'payouts' : 'collections',
    partition: index % 4,
    batch: batches[index % 3] ?? [],
  };
});

function base(reference: string) {
  return { causationId: `ev-${reference}`, reference, merchantId: 'demo', currency: 'KES' };
}

function order(reference: string) {
  return { causationId: reference, reference, currency: 'KES', amount: 300n };
}

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  const name = `${config.DATABASE_PREFIX}statements`;
  database = await openDatabase({ url: config.MONGODB_URL, database: name, appName: 'test' });
  ledger = await openBatchLedger(database, () => nowMs);
  statements = createStatements(database.db);
  for (const [index, { topic, partition, batch }] of scenario.entries()) {
    nowMs = (index + 1) * HOUR_MS;
    await ledger.apply(batch, { topic, partition });
  }
});

afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

const period = (from: number, to: number) => ({ from: new Date(from * HOUR_MS), to: new Date(to * HOUR_MS) });
const wholePage = { after: undefined, limit: 500 };

function sumsOf(parts: readonly Sums[]): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const part of parts) {
    for (const [name, minor] of Object.entries(part)) sums[name] = (sums[name] ?? 0n) + minor;
  }
  return sums;
}

/** Expects each entry's balance to be the one before plus its movement, and the last one to be the closing balance. */
function expectWhole(statement: Statement<unknown> | undefined): void {
  if (!statement) throw new Error('there is no statement');
  let running = { ...statement.opening };
  for (const { amount, after } of statement.items) {
    running = sumsOf([running, amount]);
    expect(after).toEqual(running);
  }
  expect(running).toEqual(statement.closing);
}

async function allPages<Place>(
  read: (page: StatementPage<Place>) => Promise<Statement<Place> | undefined>,
  limit: number,
): Promise<Statement<unknown>> {
  let page = await read({ after: undefined, limit });
  const items = [...(page?.items ?? [])];
  while (page?.next) {
    expect(page.items).toHaveLength(limit);
    page = await read({ after: page.next, limit });
    items.push(...(page?.items ?? []));
    if (items.length > 500) throw new Error('the pages never end');
  }
  if (!page) throw new Error('there is no statement');
  return { ...page, items };
}

const ids = (statement: Statement<unknown> | undefined) => statement?.items.map(({ entry }) => entry.id);

test.each([
  [0, 100],
  [3, 7],
  [2, 5],
  [5, 12],
])('of a wallet: opening and entries make closing, from hour %i to %i', async (from, to) => {
  expectWhole(await statements.ofWallet('demo:KES', period(from, to), wholePage));
});

test.each([
  [0, 100],
  [3, 7],
  [2, 5],
  [5, 12],
])(
  'of a float, over all its chains: opening and entries make closing, from hour %i to %i',
  async (from, to) => {
    expectWhole(await statements.ofShared(FLOAT, period(from, to), wholePage));
  },
);

test('the first time belongs to a period, the last does not', async () => {
  const wallet = await statements.ofWallet('demo:KES', period(1, 2), wholePage);
  expect(wallet).toMatchObject({
    opening: { available: 0n, held: 0n },
    closing: { available: 1_000n, held: 0n },
  });
  expect(ids(wallet)).toEqual(['cm-0/fund']);
  expect(ids(await statements.ofShared(FLOAT, period(3, 5), wholePage))).toEqual([
    'cm-2/fundFloat',
    'cm-s2/suspense',
  ]);
  expect(ids(await statements.ofShared(FLOAT, period(4, 5), wholePage))).toEqual([]);
});

test('an item has the signed movement on the account, and the balance after it', async () => {
  const wallet = await statements.ofWallet('demo:KES', period(2, 3), wholePage);
  expect(wallet?.items.map(({ entry, amount, after }) => [entry.id, amount, after])).toEqual([
    ['po-1/hold', { available: -110n, held: 110n }, { available: 890n, held: 110n }],
    ['po-1/capture', { available: 0n, held: -100n }, { available: 890n, held: 10n }],
    ['po-1/fee', { available: 0n, held: -10n }, { available: 890n, held: 0n }],
    ['co-1/collect', { available: 48n, held: 0n }, { available: 938n, held: 0n }],
  ]);
  const float = await statements.ofShared(FLOAT, period(2, 3), wholePage);
  expect(
    float?.items.map(({ entry, amount, after }) => [entry.id, amount['balance'], after['balance']]),
  ).toEqual([
    ['po-1/capture', -100n, -100n],
    ['po-1/railCost', -5n, -105n],
    ['co-1/collect', 48n, -57n],
    ['co-1/fee', 2n, -55n],
    ['co-1/railCost', -1n, -56n],
  ]);
  const suspense = await statements.ofShared('suspense:KES', period(0, 4), wholePage);
  expect(suspense).toMatchObject({ opening: { balance: 0n }, closing: { balance: 300n } });
});

test('turnovers are the debits and the credits of the period, over all chains', async () => {
  const some = [FLOAT, 'feeIncome:KES', 'suspense:GHS'];
  expect((await statements.turnovers(some, period(2, 3))).turnovers).toEqual([
    { debits: 50n, credits: 106n },
    { debits: 0n, credits: 12n },
    { debits: 0n, credits: 0n },
  ]);
  for (const [from, to] of [
    [0, 100],
    [3, 7],
  ] as const) {
    const [moved] = (await statements.turnovers([FLOAT], period(from, to))).turnovers;
    const { opening, closing } = (await statements.ofShared(FLOAT, period(from, to), wholePage)) ?? {};
    expect((moved?.debits ?? 0n) - (moved?.credits ?? 0n)).toBe(
      (closing?.['balance'] ?? 0n) - (opening?.['balance'] ?? 0n),
    );
  }
});

test.each([1, 2, 3, 7])('pages of %i make the same statement as one', async (limit) => {
  const window = period(2, 12);
  const wallet = await allPages<WalletPlace>((page) => statements.ofWallet('demo:KES', window, page), limit);
  expectWhole(wallet);
  expect(ids(wallet)).toEqual(ids(await statements.ofWallet('demo:KES', window, wholePage)));
  const float = await allPages<SharedPlace>((page) => statements.ofShared(FLOAT, window, page), limit);
  expectWhole(float);
  expect(ids(float)).toEqual(ids(await statements.ofShared(FLOAT, window, wholePage)));
});

test('pages of one time, in chains that sort either way, are still distinguished', async () => {
  nowMs = 20 * HOUR_MS;
  for (const [partition, topic] of ['payouts', 'collections', 'payouts', 'ledgerCommands'].entries()) {
    const batch = { ...order(`cm-t${partition}`), kind: 'fundFloat', rail: 'upstream' } as const;
    await ledger.apply([batch, { ...batch, reference: `cm-u${partition}` }], { topic, partition });
  }
  const window = period(20, 21);
  const whole = await statements.ofShared(FLOAT, window, wholePage);
  expect(whole?.items).toHaveLength(8);
  expectWhole(whole);
  for (const limit of [1, 3]) {
    const paged = await allPages<SharedPlace>((page) => statements.ofShared(FLOAT, window, page), limit);
    expectWhole(paged);
    expect(ids(paged)).toEqual(ids(whole));
  }
});

test('a period without entries opens and closes with the same balance', async () => {
  const wallet = await statements.ofWallet('demo:KES', period(14, 15), wholePage);
  expect(wallet?.items).toEqual([]);
  expect(wallet?.opening).toEqual(wallet?.closing);
  expect(wallet?.opening['available']).toBeGreaterThan(0n);
  const float = await statements.ofShared(FLOAT, period(14, 15), wholePage);
  expect(float?.items).toEqual([]);
  expect(float?.opening).toEqual(float?.closing);
  expect(await statements.ofShared(FLOAT, period(0, 1), wholePage)).toMatchObject({
    opening: { balance: 0n },
    closing: { balance: 0n },
  });
});

test('a statement has the time at which it was read, by the clock of the database', async () => {
  const whole = period(0, 12);
  for (const read of [
    () => statements.ofWallet('demo:KES', whole, wholePage),
    () => statements.ofShared(FLOAT, whole, wholePage),
  ]) {
    const { localTime } = await database.db.command({ hello: 1 });
    const serverMs = (localTime as Date).getTime();
    const readAtMs = (await read())?.readAtMs ?? 0;
    // A snapshot is as new as the last majority write; an idle server makes one every ten seconds.
    expect(readAtMs).toBeGreaterThan(serverMs - 15_000);
    expect(readAtMs).toBeLessThanOrEqual(serverMs + 5_000);
  }
});

test('an account that nothing has touched has no statement', async () => {
  expect(await statements.ofWallet('nobody:KES', period(0, 9), wholePage)).toBeUndefined();
  expect(await statements.ofShared('float:upstream:XOF', period(0, 9), wholePage)).toBeUndefined();
});

test('a closing balance is the balance of the account itself', async () => {
  const wallet = await database.db.collection<{ _id: string }>('wallets').findOne({ _id: 'demo:KES' });
  const statement = await statements.ofWallet('demo:KES', period(0, 1_000), wholePage);
  expect(wallet).toMatchObject({ ...statement?.closing });
  const buckets = await database.db
    .collection<{ account: string; debits: bigint; credits: bigint }>('accounts')
    .find({ account: FLOAT })
    .toArray();
  const balance = buckets.reduce((sum, { debits, credits }) => sum + debits - credits, 0n);
  expect((await statements.ofShared(FLOAT, period(0, 1_000), wholePage))?.closing).toEqual({ balance });
});

test('no statement scans: each is read by an index in its order', async () => {
  const explain = async (collection: string, filter: object, sort: Record<string, 1 | -1>) =>
    JSON.stringify(
      await database.db.collection(collection).find(filter).sort(sort).limit(10).explain('queryPlanner'),
      (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
    );
  const plans = [
    await explain(
      'postings',
      { wallet: 'demo:KES', at: { $lt: new Date() } },
      { at: -1, walletSequence: -1 },
    ),
    await explain(
      'pages',
      { 'accounts.account': FLOAT, chain: { $in: ['payouts/0', 'payouts/2'] }, at: { $gte: new Date(0) } },
      { at: 1, _id: 1 },
    ),
  ];
  for (const plan of plans) {
    expect(plan).toContain('IXSCAN');
    expect(plan).not.toContain('COLLSCAN');
    expect(plan).not.toContain('"stage":"SORT"');
  }
});
