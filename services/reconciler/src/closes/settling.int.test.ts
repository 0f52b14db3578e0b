import { inspect } from 'node:util';
import { type Database, ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import { openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { reconcilerDatabaseSchema } from '../database-schema.ts';
import type { Side } from '../domain/close.ts';
import { mapping, row } from '../fixtures/statement-rows.ts';
import { recordId } from '../matching/store.ts';
import {
  lineId,
  openStatementStore,
  type RecordDocument,
  type StatementDocument,
  type StatementStore,
} from '../statements/store.ts';
import { type ByStatement, createByStatement } from './by-statement.ts';
import { type CloseRecord, type CloseStore, openCloseStore } from './store.ts';
import { dayFrom } from './window.ts';

const HOUR_MS = 3_600_000;
const day = dayFrom(new Date('2026-11-20'), null);
const keepUntil = new Date('2100-01-01');
const close = {
  _id: '2026-11-20',
  ...day,
  requestedBy: 'ama',
  requestedAt: day.to,
  stage: 'asking',
  running: true,
  claim: 'cm-1',
  added: 0,
  keepUntil,
} as const;
const completed = { status: 'completed', amount: 10_000n, fee: 50n } as const;
const reversed = { ...completed, status: 'reversed' } as const;
const refused = { status: 'failed', amount: null, fee: null } as const;

const resources = new AsyncDisposableStack();
let database: Database;
let closeStore: CloseStore;
let statementStore: StatementStore;
let byStatement: ByStatement;
let nowMs: number;
let counted: number;

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  const scope = resources.use(openTestScope(config));
  const name = `${config.DATABASE_PREFIX}settling`;
  database = await scope.open(
    'database',
    openDatabase({ url: config.MONGODB_URL, database: name, appName: 'test' }),
  );
  await ensureDatabaseSchema(database.db, reconcilerDatabaseSchema);
  closeStore = openCloseStore(database.db);
  statementStore = openStatementStore(database.db);
  byStatement = createByStatement({
    closeStore,
    statementStore,
    rails: ['upstream'],
    waitMs: 9 * HOUR_MS,
    samplePercent: 0,
    finished: (_, records) => {
      counted += records;
    },
    gathered: () => undefined,
    clock: { nowMs: () => nowMs },
  });
});

beforeEach(async () => {
  nowMs = day.to.getTime() + HOUR_MS;
  counted = 0;
  const { runs, records } = closeStore;
  for (const one of [runs, records, statementStore.runs, statementStore.records]) await one.deleteMany();
  await closeStore.create(close);
});

afterAll(async () => {
  await database.db.dropDatabase();
  await resources.disposeAsync();
});

/** Payments of the close, one of each of these sides. */
async function waiting(...sides: readonly Side[]): Promise<void> {
  const about = { kind: 'payout', rail: 'upstream', merchantId: 'demo', currency: 'KES' } as const;
  await closeStore.records.insertMany(
    sides.map((ours, index): CloseRecord => {
      const reference = `po-${index}`;
      const found = { _id: recordId(close._id, reference), run: close._id, reference, endedAt: day.from };
      return { ...found, ...about, result: 'pending', tries: 0, ours, keepUntil };
    }),
  );
}

/** A matched statement of the day, with these lines. */
async function matched(
  lines: readonly Partial<RecordDocument>[],
  given: Partial<StatementDocument> = {},
): Promise<void> {
  const _id = `st-${await statementStore.runs.countDocuments()}`;
  const records = lines.map(
    (line, index): RecordDocument => ({
      _id: lineId(_id, index + 1),
      run: _id,
      keepUntil,
      result: 'matched',
      row: row({ fee: 50n }),
      payment: 'po-0',
      uses: 'po-0',
      ...line,
    }),
  );
  if (records.length > 0) await statementStore.records.insertMany(records);
  await statementStore.create({
    _id,
    ...day,
    rail: 'upstream',
    currency: 'KES',
    mapping,
    digest: '',
    requestedBy: 'ama',
    requestedAt: day.to,
    stage: 'done',
    batches: 1,
    chain: '',
    lines: lines.length,
    currencies: ['KES'],
    opened: 0,
    hidden: 0,
    added: 0,
    counts: { matched: lines.length },
    finishedAt: day.to,
    keepUntil,
    ...given,
  });
}

/** Looks once; gives the result of each payment, or that it is to be asked about. */
async function settled(claim = 'cm-1'): Promise<readonly string[]> {
  const run = await closeStore.find(close._id);
  if (!run) throw new Error('there is no close');
  await byStatement.settle({ ...run, claim }, async () => undefined);
  const found = await closeStore.records.find().sort({ _id: 1 }).toArray();
  return found.map(({ result, waits }) => (waits === undefined ? result : 'ask'));
}

describe('a close takes from a statement', () => {
  it('no line that was pending when it came', async () => {
    await waiting(completed);
    await matched([{ row: row({ status: 'pending' }) }]);
    expect(await settled()).toEqual(['ask']);
  });

  it('a reversal that has its line, and no other', async () => {
    await waiting(reversed, reversed);
    await matched([
      {},
      { uses: 'po-0/reversal', row: row({ kind: 'reversal' }) },
      { payment: 'po-1', uses: 'po-1' },
    ]);
    expect(await settled()).toEqual(['matched', 'ask']);
    expect(await closeStore.records.findOne({ reference: 'po-0' })).toMatchObject({
      theirs: { status: 'reversed', amount: 10_000n },
    });
  });

  it.each([
    ['of the other kind', { mapping: { ...mapping, holds: 'collections' } }],
    ['with unreadable lines', { counts: { unreadable: 1 } }],
  ] as const)('nothing about a payment without a line, if it is %s', async (_, given) => {
    await waiting(refused, completed);
    await matched([], given);
    expect(await settled()).toEqual(['pending', 'pending']);
    nowMs += 8 * HOUR_MS;
    expect(await settled()).toEqual(['ask', 'ask']);
  });

  it('of its own kind that a failed payment moved nothing', async () => {
    await waiting(refused);
    await matched([], { mapping: { ...mapping, holds: 'payouts' } });
    expect(await settled()).toEqual(['matched']);
  });
});

describe('a close that has waited long enough', () => {
  it('asks, though a statement was matched at a later time by another clock', async () => {
    await waiting(completed);
    await matched([], { from: null, to: null, finishedAt: new Date(day.to.getTime() + 10 * HOUR_MS) });
    expect(await settled()).toEqual(['pending']);
    nowMs += 8 * HOUR_MS;
    expect(await settled()).toEqual(['ask']);
  });

  it('takes what nobody was asked about from a statement that comes later', async () => {
    await waiting(completed, completed, completed);
    nowMs += 8 * HOUR_MS;
    expect(await settled()).toEqual(['ask', 'ask', 'ask']);
    await closeStore.records.updateOne({ reference: 'po-1' }, { $set: { claim: 'cm-2' } });
    await closeStore.records.updateOne({ reference: 'po-2' }, { $set: { tries: 1 } });
    await matched(['po-0', 'po-1', 'po-2'].map((payment) => ({ payment, uses: payment })));
    expect(await settled()).toEqual(['matched', 'ask', 'ask']);
  });
});

it('notes what it has taken only while it holds the close', async () => {
  await waiting(completed);
  await matched([]);
  await settled('cm-0');
  expect(await closeStore.find(close._id)).not.toHaveProperty('settledBy');
  await settled();
  expect(await closeStore.find(close._id)).toHaveProperty('settledBy');
});

it('counts what was written, and once, though the first write failed', async () => {
  await waiting(completed);
  await matched([{}]);
  vi.spyOn(closeStore.records, 'bulkWrite').mockRejectedValueOnce(new Error('the primary is gone'));
  await expect(settled()).rejects.toThrow('gone');
  expect(counted).toBe(0);
  expect(await settled()).toEqual(['matched']);
  expect(counted).toBe(1);
});

it('reads no other statements to find those of a rail', async () => {
  const about = { rail: 'upstream', stage: 'done', finishedAt: { $gte: day.from } } as const;
  const plan = inspect(await statementStore.runs.find(about).explain('queryPlanner'), { depth: null });
  expect(plan).toContain('rail_1_finishedAt_1');
});
