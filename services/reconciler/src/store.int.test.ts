import { DAY_MS } from '@pesewa/kernel';
import { type Database, ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import { openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reconcilerDatabaseSchema } from './database-schema.ts';
import { awaited, type Tracked } from './domain/tracked.ts';
import { openWorkingStore, type WorkingStore } from './store.ts';

const resources = new AsyncDisposableStack();
let db: Database['db'];
let client: Database['client'];
let working: WorkingStore;

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  const scope = resources.use(openTestScope(config));
  const database = `${config.DATABASE_PREFIX}working`;
  ({ db, client } = await scope.open(
    'database',
    openDatabase({ url: config.MONGODB_URL, database, appName: 'test' }),
  ));
  await ensureDatabaseSchema(db, reconcilerDatabaseSchema);
  working = openWorkingStore(db, { paymentMs: 800 * DAY_MS, unknownMs: DAY_MS });
});

afterAll(async () => {
  await db.dropDatabase();
  await resources.disposeAsync();
});

const terms = {
  kind: 'payout',
  rail: 'upstream',
  merchantId: 'demo',
  currency: 'KES',
  country: 'KEN',
  amount: 100n,
  railFee: 1n,
} as const;

it('deletes a payment a time after its end, unless anything is left to do', async () => {
  const dayMs = 86_400_000;
  const over: Tracked = {
    ...awaited('po-over', 0),
    terms,
    status: 'completed',
    endedAtMs: dayMs,
    dueAtMs: null,
    posted: true,
  };
  const session = client.startSession();
  await session.withTransaction(() =>
    working.save([over, { ...over, reference: 'po-due', dueAtMs: dayMs }], session),
  );
  await session.endSession();
  const polls = db.collection<{ _id: string }>('polls');
  expect(await polls.findOne({ _id: 'po-over' })).toHaveProperty('forgetAt', new Date(801 * dayMs));
  expect(await polls.findOne({ _id: 'po-due' })).not.toHaveProperty('forgetAt');
  expect(await polls.indexes()).toContainEqual(
    expect.objectContaining({ key: { forgetAt: 1 }, expireAfterSeconds: 0 }),
  );
});

it('brings the next poll of an open payment forward, but not while it is polled, nor once it has ended', async () => {
  const far = 9_000_000_000_000;
  const waiting: Tracked = {
    ...awaited('po-waits', 0),
    terms,
    status: 'open',
    dueAtMs: far,
    scheduledAtMs: far,
  };
  const others = [
    { ...waiting, reference: 'po-polled', claim: 'another' },
    { ...waiting, reference: 'po-ended', status: 'completed', endedAtMs: 1 },
    { ...waiting, reference: 'po-now-due', dueAtMs: 500 },
  ] as const;
  const session = client.startSession();
  await session.withTransaction(() => working.save([waiting, ...others], session));
  await session.endSession();
  const references = [waiting, ...others].map(({ reference }) => reference);
  const brought: boolean[] = [];
  for (const reference of references) brought.push(await working.bringForward(reference, new Date(1_000)));
  expect(brought).toEqual([true, false, false, false]);
  const found = await working.load(references);
  expect(references.map((reference) => found.get(reference)?.dueAtMs)).toEqual([1_000, far, far, 500]);
  expect(found.get('po-waits')).toMatchObject({ scheduledAtMs: 1_000, claim: null });
});
