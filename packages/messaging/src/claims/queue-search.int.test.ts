import { randomUUID } from 'node:crypto';
import { systemClock } from '@pesewa/kernel';
import type { Collection } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '../index.ts';
import { createQueueSearch, WALKED_MAX } from './queue-search.ts';

interface Job {
  readonly _id: string;
  readonly state: 'open';
  readonly owner: string;
  readonly dueAt: Date;
}

const KEY = { state: 1, owner: 1, dueAt: 1, _id: 1 } as const;
const HOUR_MS = 3_600_000;
const nowMs = systemClock.nowMs();

let database: Awaited<ReturnType<typeof openDatabase>>;
let jobs: Collection<Job>;

beforeAll(async () => {
  const url = process.env['MONGODB_URL'] ?? '';
  database = await openDatabase({ url, database: `test-${randomUUID()}`, appName: 'test' });
  jobs = database.db.collection<Job>('jobs');
  await jobs.createIndex(KEY);
});
beforeEach(() => jobs.deleteMany({}));
afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

/** Inserts jobs of an owner, the first of which has been due for so long and each other one a millisecond less. */
async function insert(owner: string, count: number, dueForMs: number): Promise<readonly string[]> {
  const records = Array.from({ length: count }, (_, index) => ({
    _id: `${owner}-${String(index).padStart(4, '0')}`,
    state: 'open' as const,
    owner,
    dueAt: new Date(nowMs - dueForMs + index),
  }));
  await jobs.insertMany(records);
  return records.map(({ _id }) => _id);
}

/** A search whose findings are put off, and take the room of their owners for good; all share `sharedRoom`. */
function openSearch(roomOf: (owner: string) => number, sharedRoom = Infinity) {
  const inHand: string[] = [];
  const ownerOf = (id: string) => id.slice(0, id.lastIndexOf('-'));
  const countOf = (owner: string, ids: readonly string[]) => ids.filter((id) => ownerOf(id) === owner).length;
  const roomLeft = (owner: string) => roomOf(owner) - countOf(owner, inHand);
  const choose = () => {
    const chosen: string[] = [];
    return (owner: string) => {
      const fits = countOf(owner, chosen) < roomLeft(owner) && inHand.length + chosen.length < sharedRoom;
      if (fits) chosen.push(`${owner}-`);
      return fits;
    };
  };
  const search = createQueueSearch(
    { collection: jobs, open: { state: 'open' }, clock: systemClock },
    { field: 'owner', roomOf: roomLeft, choose, index: KEY },
  );
  return async (room: number) => {
    const { ids, more } = await search(new Date(nowMs), room);
    inHand.push(...ids);
    await jobs.updateMany({ _id: { $in: [...ids] } }, { $set: { dueAt: new Date(nowMs + HOUR_MS) } });
    return [ids, more];
  };
}

it('finds the oldest of all queues, as far as the room of each goes', async () => {
  const dead = await insert('dead', 700, 90_000);
  const busy = await insert('busy', 700, 80_000);
  const calm = await insert('calm', 3, 70_000);
  const search = openSearch((owner) => ({ dead: 1, busy: 4, calm: 9 })[owner] ?? 0);
  expect(await search(3)).toEqual([[...dead.slice(0, 1), ...busy.slice(0, 2)], true]);
  // Where a backlog fills what is read, the first of each other queue is found all the same.
  expect(await search(10)).toEqual([[...busy.slice(2, 4), ...calm.slice(0, 1)], true]);
  expect(await search(10)).toEqual([calm.slice(1), true]);
  expect(await search(10)).toEqual([[], false]);
});

it('reads a key for each queue and no document, however much waits in those without room', async () => {
  await insert('dead', 5_000, 90_000);
  const calm = await insert('calm', 3, 70_000);
  await insert('later', 5_000, -HOUR_MS);
  await database.db.command({ profile: 2 });
  try {
    expect(await openSearch((owner) => (owner === 'dead' ? 0 : 9))(10)).toEqual([calm, true]);
  } finally {
    await database.db.command({ profile: 0 });
  }
  const seen = await database.db
    .collection<{ readonly docsExamined: number; readonly keysExamined: number }>('system.profile')
    .find({ ns: jobs.namespace, 'command.hint': KEY })
    .toArray();
  expect(seen.map(({ docsExamined, keysExamined }) => [docsExamined, keysExamined])).toEqual([
    [0, 3],
    [0, 3],
  ]);
});

it('goes through many queues in parts, and through all of them again until nothing is found', async () => {
  const last = await insert('z', 1, 90_000);
  const first = await insert('a', 2, 80_000);
  const later = Array.from({ length: WALKED_MAX - 1 }, (_, index) => ({
    _id: `later-${index}`,
    state: 'open' as const,
    owner: `b-${index}`,
    dueAt: new Date(nowMs + HOUR_MS),
  }));
  await jobs.insertMany(later);
  const search = openSearch(() => 9);
  expect(await search(1)).toEqual([first.slice(0, 1), true]);
  expect(await search(1)).toEqual([last, true]);
  expect(await search(1)).toEqual([first.slice(1), true]);
  expect(await search(1)).toEqual([[], true]);
  expect(await search(1)).toEqual([[], true]);
  expect(await search(1)).toEqual([[], false]);
});

it('finds no more of queues that share room than there is room for', async () => {
  const owners = Array.from({ length: 40 }, (_, index) => `shared-${index + 10}`);
  const firsts: string[] = [];
  for (const [index, owner] of owners.entries())
    firsts.push(...(await insert(owner, 1, 90_000 - index * 100)));
  const search = openSearch(() => 3, 5);
  expect(await search(32)).toEqual([firsts.slice(0, 5), true]);
});
