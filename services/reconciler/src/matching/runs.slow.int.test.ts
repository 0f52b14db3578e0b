import { type Database, ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import { eventually, openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reconcilerDatabaseSchema } from '../database-schema.ts';
import type { PollDocument } from '../poll-document.ts';
import { openWindowPayments } from './payments.ts';
import { startRuns } from './runs.ts';
import { type MatchRecord, type MatchRun, openMatchStore } from './store.ts';

interface Run extends MatchRun {
  readonly rail: string;
}

const resources = new AsyncDisposableStack();
let database: Database;
let scope: ReturnType<typeof openTestScope>;

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  scope = resources.use(openTestScope(config));
  const name = `${config.DATABASE_PREFIX}runs`;
  database = await scope.open(
    'database',
    openDatabase({ url: config.MONGODB_URL, database: name, appName: 'test' }),
  );
  await ensureDatabaseSchema(database.db, reconcilerDatabaseSchema);
});

afterAll(async () => {
  await database.db.dropDatabase();
  await resources.disposeAsync();
});

it('a statement notes what it compares, and must compare again, of rails whose close it is', async () => {
  const polls = database.db.collection<PollDocument>('polls');
  const endedAt = new Date(0);
  const rails = ['by-statement', 'asked'];
  const rows = rails.map((rail) => ({ _id: rail, terms: { rail }, endedAt, uncompared: rail }));
  await polls.insertMany(rows as unknown as PollDocument[]);
  const marked = async () =>
    (await polls.find({ uncompared: { $exists: true } }).toArray()).map(({ _id }) => _id);
  const payments = openWindowPayments(polls, ['by-statement']);
  const session = database.client.startSession();
  await payments.compared(await payments.find(rails), session);
  await session.endSession();
  expect(await marked()).toEqual(['asked']);
  await polls.updateMany({}, { $unset: { uncompared: true } });
  await payments.compareAgain(rails);
  expect(await marked()).toEqual(['by-statement']);
});

/** The order in which three runs are taken, of which the first fails once. */
async function orderOf(inOrderBy: '_id' | 'rail'): Promise<readonly string[]> {
  const { clock, ids, logger } = scope;
  const names = { runs: 'statements', records: 'statement_records' };
  const store = openMatchStore<Run, MatchRecord>(database.db, names);
  const taken: string[] = [];
  const requestedAt = new Date(clock.nowMs() - 1_000);
  const run = (_id: string, rail: string, place: number): Run => {
    const dueAt = new Date(requestedAt.getTime() + place);
    const made = { requestedBy: 'ama', requestedAt, stage: 'gathering', running: true } as const;
    return { _id, rail, dueAt, ...made, keepUntil: new Date('2100-01-01') };
  };
  for (const one of [run('older', 'one', 0), run('newer', 'one', 1), run('other', 'two', 2)])
    await store.create(one);
  const messaging = { db: database.db, owner: 'test' };
  await using _runs = startRuns<Run, MatchRecord>({
    name: `runs by ${inOrderBy}`,
    store,
    inOrderBy,
    messaging,
    pauseMs: 20,
    clock,
    ids,
    logger,
    step: async ({ _id }) => {
      taken.push(_id);
      if (taken.length === 1) throw new Error('the step fails once');
      await store.runs.deleteOne({ _id });
    },
  });
  await eventually(async () => expect(await store.runs.countDocuments()).toBe(0));
  return taken;
}

describe('a run whose step fails', () => {
  it('is taken before the newer ones of its rail all the same, and those of others go on', async () => {
    expect(await orderOf('rail')).toEqual(['older', 'other', 'older', 'newer']);
  });

  it('holds up no other where each stands for itself', async () => {
    expect(await orderOf('_id')).toEqual(['older', 'newer', 'other', 'older']);
  });
});
