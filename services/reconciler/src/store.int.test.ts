import { type Database, ensureCollections, openDatabase } from '@pesewa/messaging';
import { openTestScope, prepareTestNames } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reconcilerCollections } from './indexes.ts';
import { openWorkingStore, type WorkingStore } from './store.ts';

const resources = new AsyncDisposableStack();
let db: Database['db'];
let working: WorkingStore;

beforeAll(async () => {
  const config = await prepareTestNames([]);
  const scope = resources.use(openTestScope(config));
  const database = `${config.DATABASE_PREFIX}working`;
  ({ db } = await scope.open(openDatabase({ url: config.MONGODB_URL, database, appName: 'test' })));
  await ensureCollections(db, reconcilerCollections);
  working = openWorkingStore(db);
});

afterAll(async () => {
  await db.dropDatabase();
  await resources.disposeAsync();
});

it('counts what is open by keys alone, however much it is', async () => {
  const row = (kind: string, index: number) => ({
    _id: `${kind}-${index}` as never,
    terms: { kind },
    openState: index % 2 === 0 ? 'begun' : 'accepted',
    openedAt: new Date(index),
  });
  await db
    .collection('polls')
    .insertMany([
      ...Array.from({ length: 300 }, (_, index) => ({ ...row('payout', index), open: true })),
      ...Array.from({ length: 200 }, (_, index) => ({ ...row('collection', index), open: true })),
      ...Array.from({ length: 100 }, (_, index) => row('payout', 1_000 + index)),
    ]);
  await db.command({ profile: 2 });
  try {
    expect(await working.countOpen()).toEqual({ payout: 300, collection: 200 });
  } finally {
    await db.command({ profile: 0 });
  }
  const counts = await db
    .collection('system.profile')
    .find({ ns: `${db.databaseName}.polls`, 'command.aggregate': 'polls' })
    .toArray();
  expect(counts).toHaveLength(2);
  for (const count of counts) {
    expect(count['docsExamined']).toBe(0);
    expect(count['keysExamined']).toBeLessThanOrEqual(301);
  }
});
