import { createIds, DAY_MS, systemClock, systemRandom } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { eventually, openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import type { Collection, Db } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ERASURES, leasesOf, openDatabase, startEraser, takeLease } from '../index.ts';

interface Thing {
  readonly reference: string;
  readonly state: 'open' | 'ended';
  readonly name?: string;
}

const NOW_MS = Date.UTC(2026, 5, 1);
const logger = createLogger({ name: 'test', level: 'silent' });
const resources = new AsyncDisposableStack();
let db: Db;
let things: Collection<Thing>;

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  const scope = resources.use(openTestScope(config));
  const database = `${config.DATABASE_PREFIX}erasing`;
  ({ db } = await scope.open(
    'database',
    openDatabase({ url: config.MONGODB_URL, database, appName: 'test' }),
  ));
  things = db.collection<Thing>('things');
  await things.createIndex({ reference: 1 }, { unique: true });
});
beforeEach(async () => {
  for (const name of ['things', ERASURES, 'leases']) await db.collection(name).deleteMany({});
});
afterAll(async () => {
  await db.dropDatabase();
  await resources.disposeAsync();
});

const createdAt = (atMs: number) => createIds({ ...systemClock, nowMs: () => atMs }, systemRandom).next('po');
const daysAgo = (days: number, state: Thing['state'] = 'ended'): Thing => ({
  reference: createdAt(NOW_MS - days * DAY_MS),
  state,
  name: 'Ama Mensah',
});

/** An eraser of one replica whose clock moves only when the test moves it. */
function openEraser(owner: string, aheadMs = 0, keepDays = 100) {
  const clock = { ...systemClock, nowMs: () => NOW_MS + aheadMs };
  return startEraser<Thing>(
    { db, owner, clock, logger },
    {
      collection: 'things',
      by: 'reference',
      prefix: 'po',
      open: { state: 'open' },
      notErased: { name: { $exists: true } },
      erase: { $unset: { name: true } },
    },
    keepDays,
  );
}

const named = async () =>
  new Set((await things.find({ name: { $exists: true } }).toArray()).map(({ reference }) => reference));
const mark = () =>
  db.collection<Readonly<{ _id: string; after: string; open: readonly string[] }>>(ERASURES).findOne({});

it('erases what is old and over, page by page, and leaves what is young or open', async () => {
  const old = Array.from({ length: 1_300 }, (_, index) => daysAgo(300 - index / 10));
  const open = daysAgo(200, 'open');
  const young = daysAgo(99);
  await things.insertMany([...old, open, young]);
  await using _eraser = openEraser('one');
  await eventually(async () => expect(await named()).toEqual(new Set([open.reference, young.reference])));
  expect(await things.countDocuments()).toBe(1_302);
});

it('goes on past a record that is open, and takes it once it is over', async () => {
  const [older, open, newer] = [daysAgo(300), daysAgo(200, 'open'), daysAgo(150)];
  await things.insertMany([older, open, newer]);
  await using eraser = openEraser('one');
  await eventually(async () => expect(await named()).toEqual(new Set([open.reference])));
  await eventually(async () =>
    expect(await mark()).toMatchObject({ after: newer.reference, open: [open.reference] }),
  );
  await things.updateOne({ reference: open.reference }, { $set: { state: 'ended' } });
  eraser.wake();
  await eventually(async () => expect(await named()).toEqual(new Set()));
  await eventually(async () => expect(await mark()).toMatchObject({ after: newer.reference, open: [] }));
});

it('erases a record on the day that it is old enough', async () => {
  const young = daysAgo(99);
  await things.insertOne(young);
  await using eraser = openEraser('one');
  eraser.wake();
  await eventually(async () => expect(await leasesOf(db).countDocuments()).toBe(1));
  expect(await named()).toEqual(new Set([young.reference]));
  await using _later = openEraser('one', 2 * DAY_MS);
  await eventually(async () => expect(await named()).toEqual(new Set()));
});

it('leaves it to the replica that has the lease', async () => {
  await takeLease(leasesOf(db), { name: 'erase/things', owner: 'other', durationMs: 60_000 });
  await things.insertOne(daysAgo(300));
  const eraser = openEraser('one');
  await eraser[Symbol.asyncDispose]();
  expect((await named()).size).toBe(1);
});
