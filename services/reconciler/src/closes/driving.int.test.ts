import { DAY_MS } from '@pesewa/kernel';
import { type Database, ensureDatabaseSchema, type Messaging, openDatabase } from '@pesewa/messaging';
import { eventually, openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reconcilerDatabaseSchema } from '../database-schema.ts';
import type { Terms } from '../domain/tracked.ts';
import { openWindowPayments, type WindowPayment, type WindowPayments } from '../matching/payments.ts';
import type { PollDocument } from '../poll-document.ts';
import { startCloses } from './driving.ts';
import { type CloseRecord, type CloseStore, openCloseStore } from './store.ts';

const resources = new AsyncDisposableStack();
let database: Database;
let closeStore: CloseStore;
/** Whether everything the owners have published is applied. */
let isLevel = false;
let looks = 0;
/** Called while a close looks for late payments. */
let whileLooking = async (): Promise<void> => {};
let aheadMs = 0;
/** The day of two rails, whose payments are read slowly. */
const TWO_RAILS = new Date('2026-11-24');

/** One page after another, each of which takes a second. */
async function* endless(): AsyncGenerator<readonly WindowPayment[]> {
  const terms = { kind: 'payout', rail: 'endless', merchantId: 'demo', currency: 'KES' } as Terms;
  for (let page = 0; ; page += 1) {
    aheadMs += 1_000;
    yield [{ _id: `po-endless-${page}`, terms, endedAt: new Date(page), status: 'completed' }];
  }
}

/** A close of this rail loses its turn when it has read its first page; there is nothing more to read then. */
async function* takenAway(_id: string): AsyncGenerator<readonly WindowPayment[]> {
  const { modifiedCount } = await closeStore.runs.updateOne(
    { _id, requestedBy: 'ama' },
    { $set: { claim: 'of another', requestedBy: 'another' } },
  );
  if (modifiedCount === 0) return;
  const terms = { kind: 'payout', rail: 'taken', merchantId: 'demo', currency: 'KES' } as Terms;
  yield [{ _id: 'po-taken', terms, endedAt: new Date('2026-11-25'), status: 'completed' }];
}

/** The same pages, each of which takes longer than a slice. */
async function* slowly(pages: ReturnType<WindowPayments['uncompared']>) {
  for await (const page of pages) {
    aheadMs += 11_000;
    yield page;
  }
}

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  const scope = resources.use(openTestScope(config));
  const name = `${config.DATABASE_PREFIX}gathering`;
  database = await scope.open(
    'database',
    openDatabase({ url: config.MONGODB_URL, database: name, appName: 'test' }),
  );
  await ensureDatabaseSchema(database.db, reconcilerDatabaseSchema);
  closeStore = openCloseStore(database.db);
  const caughtUp: Messaging['caughtUp'] = async () => {
    looks += 1;
    await whileLooking();
    return isLevel;
  };
  const { ids, logger } = scope;
  const clock = { ...scope.clock, nowMs: () => scope.clock.nowMs() + aheadMs };
  const messaging = { db: database.db, owner: 'test', caughtUp };
  const { uncompared } = openWindowPayments(database.db.collection<PollDocument>('polls'), ['by-statement']);
  const payments: Pick<WindowPayments, 'uncompared'> = {
    uncompared: (day, place) => {
      if (day.rail === 'endless') return endless();
      if (day.rail === 'taken') return takenAway('2026-11-25.taken');
      const pages = uncompared(day, place);
      return day.from.getTime() === TWO_RAILS.getTime() ? slowly(pages) : pages;
    },
  };
  const deps = { closeStore, payments, messaging, clock, ids, logger, pauseMs: 20 };
  resources.use(startCloses(deps));
});

afterAll(async () => {
  await database.db.dropDatabase();
  await resources.disposeAsync();
});

const dayFrom = (from: Date, rail: string | null) => ({ from, to: new Date(from.getTime() + DAY_MS), rail });

/** A close that is due. */
async function make(_id: string, midnight: Date, rail: string | null): Promise<void> {
  const now = new Date();
  const due = { stage: 'asking', running: true, dueAt: now } as const;
  const made = { requestedBy: 'ama', requestedAt: now, keepUntil: new Date('2100-01-01') };
  await closeStore.create({ _id, ...dayFrom(midnight, rail), ...made, ...due });
}

it('is not done before what the owners have published is applied, and adds what was reported late after that', async () => {
  const day = dayFrom(new Date('2026-11-20'), null);
  await make('2026-11-20', day.from, null);
  await eventually(async () => expect(looks).toBeGreaterThan(1));
  expect(await closeStore.find('2026-11-20')).toMatchObject({ stage: 'asking' });
  const terms = { kind: 'payout', rail: 'upstream', merchantId: 'demo', currency: 'KES' };
  await database.db.collection('polls').insertOne({
    _id: 'po-1',
    terms,
    endedAt: day.from,
    uncompared: 'upstream',
  } as unknown as PollDocument & { _id: never });
  isLevel = true;
  const isAsked = () =>
    eventually(async () =>
      expect(await closeStore.records.findOne({ reference: 'po-1' })).toMatchObject({ result: 'pending' }),
    );
  const answer = (result: 'unclear' | 'matched') =>
    closeStore.records.updateOne({ reference: 'po-1' }, [
      { $set: { result, askedAt: '$$NOW' } },
      { $unset: ['waits', 'dueAt'] },
    ]);
  const isDone = (result: 'unclear' | 'matched') =>
    eventually(async () =>
      expect(await closeStore.find('2026-11-20')).toMatchObject({ stage: 'done', counts: { [result]: 1 } }),
    );
  await isAsked();
  /** Its result stays until there is another, and what the close gave can be exported meanwhile. */
  const isAskedAgain = () =>
    eventually(async () => {
      const record = { result: 'unclear', waits: 'upstream' };
      expect(await closeStore.records.findOne({ reference: 'po-1' })).toMatchObject(record);
      expect(await closeStore.find('2026-11-20')).toMatchObject({ stage: 'done' });
    });
  // Nothing has compared it, and the close is done all the same; the next night asks once more.
  await answer('unclear');
  await isDone('unclear');
  await closeStore.askAgain('2026-11-20', ['unclear'], new Date());
  await isAskedAgain();
  await answer('unclear');
  await isDone('unclear');
  await closeStore.askAgain('2026-11-20', ['unclear'], new Date());
  await isAskedAgain();
  await database.db.collection('polls').updateOne({ _id: 'po-1' as never }, { $unset: { uncompared: '' } });
  await answer('matched');
  await isDone('matched');
  expect(await closeStore.find('2026-11-20')).not.toHaveProperty('late');
});

it('looks once more if it is woken while it looks', async () => {
  await make('2026-11-19', new Date('2026-11-19'), null);
  const wake = () => closeStore.askAgain('2026-11-19', ['unclear'], new Date());
  await eventually(async () => expect(await closeStore.find('2026-11-19')).toMatchObject({ stage: 'done' }));
  let seen = 0;
  whileLooking = async () => {
    seen += 1;
    if (seen === 1) await wake();
  };
  await wake();
  await eventually(async () => {
    expect(seen).toBe(2);
    expect(await closeStore.find('2026-11-19')).not.toHaveProperty('running');
  });
});

it('reads many payments in turns with those of other closes', async () => {
  await make('2026-11-21.endless', new Date('2026-11-21'), 'endless');
  await eventually(async () => expect(aheadMs).toBeGreaterThan(0));
  await make('2026-11-21', new Date('2026-11-21'), null);
  await eventually(async () =>
    expect(await closeStore.find('2026-11-21')).toMatchObject({ stage: 'done', counts: {} }),
  );
  expect(await closeStore.find('2026-11-21.endless')).toMatchObject({ stage: 'asking' });
  await closeStore.runs.deleteOne({ _id: '2026-11-21.endless' });
});

it('leaves out a rail whose statement is its close, unless it is of that rail', async () => {
  const day = dayFrom(new Date('2026-11-22'), null);
  const terms = { kind: 'payout', rail: 'by-statement', merchantId: 'demo', currency: 'KES' };
  const uncompared = { _id: 'po-2', terms, endedAt: day.from, uncompared: 'by-statement' };
  await database.db.collection('polls').insertOne(uncompared as unknown as PollDocument & { _id: never });
  await make('2026-11-22', day.from, null);
  await eventually(async () =>
    expect(await closeStore.find('2026-11-22')).toMatchObject({ stage: 'done', counts: {} }),
  );
  await make('2026-11-22.by-statement', day.from, 'by-statement');
  await eventually(async () =>
    expect(await closeStore.records.findOne({ reference: 'po-2' })).toMatchObject({ waits: 'by-statement' }),
  );
});

it('asks one rail while another, which fills a slice, gives no answer', async () => {
  const ofRail = (rail: string) => ({
    _id: `po-of-${rail}`,
    terms: { kind: 'payout', rail, merchantId: 'demo', currency: 'KES' },
    endedAt: TWO_RAILS,
    uncompared: rail,
  });
  const polls = database.db.collection<ReturnType<typeof ofRail>>('polls');
  await polls.insertMany([ofRail('a-dead-one'), ofRail('one-alive')]);
  await make('2026-11-24', TWO_RAILS, null);
  const waits = () => closeStore.records.distinct('waits', { run: '2026-11-24' });
  await eventually(async () => expect(await waits()).toEqual(['a-dead-one', 'one-alive']));
  // All are added: what is left is to wait for their answers.
  await eventually(async () => expect(await closeStore.find('2026-11-24')).not.toHaveProperty('after'));
  expect(await closeStore.find('2026-11-24')).toMatchObject({ stage: 'asking' });
  await polls.updateMany({ endedAt: TWO_RAILS }, { $unset: { uncompared: true } });
  await closeStore.records.updateMany({ run: '2026-11-24' }, [
    { $set: { result: 'matched' } },
    { $unset: ['waits', 'dueAt'] },
  ]);
  await eventually(async () =>
    expect(await closeStore.find('2026-11-24')).toMatchObject({ stage: 'done', counts: { matched: 2 } }),
  );
});

it('adds nothing to a close that another replica drives by now', async () => {
  await make('2026-11-25.taken', new Date('2026-11-25'), 'taken');
  await eventually(async () =>
    expect(await closeStore.find('2026-11-25.taken')).toMatchObject({
      requestedBy: 'another',
      stage: 'done',
      counts: {},
    }),
  );
  expect(await closeStore.records.countDocuments({ run: '2026-11-25.taken' })).toBe(0);
});

it.each([
  ['closes', 'running'],
  ['close_records', 'waits'],
])("looks for late payments as a whole or not at all, if %s can't be written", async (collection, field) => {
  const day = dayFrom(new Date('2026-11-23'), null);
  const _id = `2026-11-23.${field}`;
  const keepUntil = new Date(Date.now() + 3_600_000);
  const run = { _id, ...day, requestedBy: 'ama', requestedAt: new Date(), stage: 'done', keepUntil } as const;
  await closeStore.create(run);
  const record = { _id: `${_id}/po-3`, run: _id, rail: 'upstream', result: 'unclear', keepUntil };
  await closeStore.records.insertOne(record as CloseRecord);
  // Moderate: what other tests have left is not checked.
  const validator = { [field]: { $exists: false } };
  await database.db.command({ collMod: collection, validator, validationLevel: 'moderate' });
  try {
    await expect(closeStore.askAgain(_id, ['unclear'], new Date())).rejects.toThrow('validation');
  } finally {
    await database.db.command({ collMod: collection, validator: {}, validationLevel: 'strict' });
  }
  expect(await closeStore.find(_id)).not.toHaveProperty('running');
  expect(await closeStore.records.findOne({ run: _id })).not.toHaveProperty('waits');
});
