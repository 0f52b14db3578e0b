import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { eventually, openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import type { Collection } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../index.ts';
import { type Claimable, type ClaimRules, createClaimer } from './claim.ts';
import { startClaimLoop } from './claim-loop.ts';

interface Job extends Claimable {
  readonly queue?: string;
}

/** An operation as MongoDB's profiler records it. */
interface Profiled {
  readonly op: string;
  readonly command: { readonly projection?: { readonly _id?: unknown } };
  readonly docsExamined: number;
  readonly keysExamined: number;
}

const ids = createIds(systemClock, systemRandom);
const logger = createLogger({ name: 'test', level: 'silent' });
const LEASE_MS = 60_000;
let resources: AsyncDisposableStack;
let jobs: Collection<Job>;

beforeAll(async () => {
  resources = new AsyncDisposableStack();
  const config = await prepareTestEnvironment();
  const scope = resources.use(openTestScope(config));
  const name = `${config.DATABASE_PREFIX}claims`;
  const { db } = await scope.open(
    'database',
    openDatabase({ url: config.MONGODB_URL, database: name, appName: 'test' }),
  );
  jobs = db.collection<Job>('jobs');
  const partialFilterExpression = { queue: { $exists: true } };
  await jobs.createIndex({ queue: 1, dueAt: 1, _id: 1 }, { partialFilterExpression });
});
beforeEach(() => jobs.deleteMany({}));
afterAll(() => resources.disposeAsync());

const named = (index: number) => `j-${String(index).padStart(4, '0')}`;
/** Inserts jobs that became due one after another, the last of them just now. */
async function insert(count: number, queue = 'a'): Promise<readonly string[]> {
  const nowMs = systemClock.nowMs();
  const records = Array.from({ length: count }, (_, index) => ({
    _id: `${queue}${named(index)}`,
    queue,
    dueAt: new Date(nowMs - (count - index) * 20),
  }));
  await jobs.insertMany(records);
  return records.map(({ _id }) => _id);
}
const clockAhead = (aheadMs: number) => ({ ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs });
const rules = (change: Partial<ClaimRules<Job>> = {}): ClaimRules<Job> => ({
  collection: jobs,
  open: { queue: 'a' },
  leaseMs: LEASE_MS,
  clock: systemClock,
  ids,
  ...change,
});
/** The jobs, with a different `updateMany`. */
const withUpdate = (updateMany: typeof jobs.updateMany): typeof jobs =>
  Object.assign(Object.create(jobs) as typeof jobs, { updateMany });
const claimedBy = async (claim: ReturnType<typeof createClaimer<Job>>, room: number) =>
  (await claim(room)).records.map(({ _id }) => _id).toSorted();

describe('what goes first', () => {
  it('is the oldest, in order', async () => {
    const all = await insert(10);
    const claim = createClaimer(rules());
    expect(await claimedBy(claim, 4)).toEqual(all.slice(0, 4));
    expect(await claimedBy(claim, 4)).toEqual(all.slice(4, 8));
    expect(await claimedBy(claim, 4)).toEqual(all.slice(8));
    expect(await claimedBy(claim, 4)).toEqual([]);
  });

  it('is half of each end where more is due than there is room for, and everything where it is not', async () => {
    const all = await insert(11);
    const claim = createClaimer(rules({ priority: 'newestAndOldest' }));
    expect(await claimedBy(claim, 4)).toEqual([...all.slice(0, 2), ...all.slice(9)]);
    expect(await claimedBy(claim, 4)).toEqual([...all.slice(2, 4), ...all.slice(7, 9)]);
    expect(await claimedBy(claim, 4)).toEqual(all.slice(4, 7));
  });

  it('is what is fresh and then the oldest, in order, where a backlog has been due for longer', async () => {
    const fresh = await insert(3, 'a');
    const old = Array.from({ length: 12 }, (_, index) => ({
      _id: `old-${named(index)}`,
      queue: 'a',
      dueAt: new Date(systemClock.nowMs() - 3_600_000 + index * 270_000),
    }));
    await jobs.insertMany(old);
    const backlog = old.map(({ _id }) => _id);
    const claim = createClaimer(rules({ priority: 'newestAndOldest' }));
    expect(await claimedBy(claim, 4)).toEqual([...fresh.slice(1), ...backlog.slice(0, 2)].toSorted());
    expect(await claimedBy(claim, 4)).toEqual([...fresh.slice(0, 1), ...backlog.slice(2, 5)].toSorted());
    expect(await claimedBy(claim, 4)).toEqual(backlog.slice(5, 9));
    expect(await claimedBy(claim, 4)).toEqual(backlog.slice(9));
  });

  it('is either end in turn where there is room for one: both go on', async () => {
    const all = await insert(4);
    const claim = createClaimer(rules({ priority: 'newestAndOldest' }));
    const order = [];
    for (let round = 0; round < 4; round += 1) order.push(...(await claimedBy(claim, 1)));
    expect(order).toEqual([all[3], all[0], all[2], all[1]]);
  });

  it('goes by the server’s clock: a process that is ahead also claims the newest due records', async () => {
    const all = await insert(20);
    await jobs.insertMany(
      Array.from({ length: 20 }, (_, index) => ({
        _id: `later-${named(index)}`,
        queue: 'a',
        dueAt: new Date(systemClock.nowMs() + 1_500 + index),
      })),
    );
    const claim = createClaimer(rules({ priority: 'newestAndOldest', clock: clockAhead(3_000) }));
    // The first claim finds out how far it is ahead.
    expect(await claimedBy(claim, 4)).toEqual(all.slice(0, 2));
    expect(await claimedBy(claim, 4)).toEqual([...all.slice(2, 4), ...all.slice(18)]);
  });
});

describe('a rate limit', () => {
  const rateLimited = (tokens: number[]) => {
    const asked: number[][] = [];
    const rateLimit = {
      take: async (wanted: number) => {
        asked.push([wanted]);
        return { count: Math.min(wanted, tokens.shift() ?? 0) };
      },
      giveBack: async (unused: number) => void asked.at(-1)?.push(unused),
      retryAfterMs: 10,
    };
    return { rateLimit, asked };
  };

  it('bounds what is claimed; no more is taken than is due, and none where nothing is', async () => {
    const all = await insert(5);
    const { rateLimit, asked } = rateLimited([2, 0, 9]);
    const claim = createClaimer(rules({ priority: 'newestAndOldest', rateLimit }));
    expect(await claimedBy(claim, 100)).toEqual([all[0], all[4]]);
    expect(await claim(100)).toMatchObject({ records: [], isRateLimited: true, more: true });
    expect(await claimedBy(claim, 100)).toEqual(all.slice(1, 4));
    expect(await claimedBy(claim, 100)).toEqual([]);
    expect(asked).toEqual([[5], [3], [3]]);
  });

  it('gets back the tokens for which others were quicker', async () => {
    await insert(6);
    const { rateLimit, asked } = rateLimited([6]);
    const quicker = createClaimer(rules());
    const slower = {
      ...rateLimit,
      take: async (wanted: number) => (await quicker(4), rateLimit.take(wanted)),
    };
    expect(await claimedBy(createClaimer(rules({ rateLimit: slower })), 100)).toHaveLength(2);
    expect(asked).toEqual([[6, 4]]);
  });
});

describe('a claim', () => {
  it('finds by keys alone, however many are due, and writes no more than it found', async () => {
    await insert(600);
    await insert(100, 'b');
    await jobs.db.command({ profile: 2 });
    try {
      expect(await claimedBy(createClaimer(rules({ priority: 'newestAndOldest' })), 200)).toHaveLength(200);
    } finally {
      await jobs.db.command({ profile: 0 });
    }
    const profile = jobs.db.collection<Profiled>('system.profile');
    const seen = await profile.find({ ns: jobs.namespace }).toArray();
    const looks = seen.filter(({ command }) => command.projection?._id === 1);
    expect(looks.map(({ docsExamined, keysExamined }) => [docsExamined, keysExamined])).toEqual([
      [0, 200],
      [0, 100],
    ]);
    const [written] = seen.filter(({ op }) => op === 'update');
    expect(written).toMatchObject({ docsExamined: 200, nModified: 200 });
  });

  it('keeps what it came to when the connection breaks over it', async () => {
    const all = await insert(3);
    const broken = withUpdate(async (...given) => {
      await jobs.updateMany(...given);
      throw new Error('connection reset');
    });
    expect(await claimedBy(createClaimer(rules({ collection: broken })), 10)).toEqual(all);
    await insert(1, 'b');
    const never = withUpdate(() => Promise.reject(new Error('connection reset')));
    const claim = createClaimer(rules({ collection: never, open: { queue: 'b' } }));
    await expect(claim(10)).rejects.toThrow('connection reset');
  });
});

it('several loops with clocks apart work on each record once, and on all of them', async () => {
  const all = await insert(400);
  const worked: string[] = [];
  const loops = [-1_000, 0, 1_000].map((aheadMs) =>
    startClaimLoop({
      ...rules({ priority: 'newestAndOldest', clock: clockAhead(aheadMs) }),
      name: 'test',
      clock: clockAhead(aheadMs),
      workTimeoutMs: 1_000,
      batchMax: 200,
      concurrencyMax: 16,
      pauseMs: 20,
      logger,
      work: async ({ _id }) => {
        worked.push(_id);
        await jobs.updateOne({ _id }, { $unset: { dueAt: 1, queue: 1 } });
      },
    }),
  );
  try {
    await eventually(async () => expect(await jobs.countDocuments({ queue: 'a' })).toBe(0));
  } finally {
    await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()));
  }
  expect(worked.toSorted()).toEqual(all);
});
