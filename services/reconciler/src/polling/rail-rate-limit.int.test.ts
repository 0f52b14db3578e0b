import { systemClock } from '@pesewa/kernel';
import { openDatabase } from '@pesewa/messaging';
import { eventually, openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeRateLimit, openRailRateLimit, type RailRateLimit } from './rail-rate-limit.ts';

let resources: AsyncDisposableStack;
let replicas: readonly RailRateLimit[];
let first: RailRateLimit;

beforeAll(async () => {
  resources = new AsyncDisposableStack();
  const config = await prepareTestEnvironment();
  const scope = resources.use(openTestScope(config));
  const open = () =>
    scope.open(
      'database',
      openDatabase({
        url: config.MONGODB_URL,
        database: `${config.DATABASE_PREFIX}rateLimits`,
        appName: 'test',
      }),
    );
  first = openRailRateLimit((await open()).db);
  replicas = [first, openRailRateLimit((await open()).db), openRailRateLimit((await open()).db)];
});
afterAll(() => resources.disposeAsync());

const take = async (rail: string, wanted: number, perSecond: number) =>
  (await first.take(rail, { wanted, perSecond })).count;
/** Ten concurrent callers on each replica. */
const rush = (rail: string, perSecond: number) =>
  Promise.all(
    Array.from({ length: 10 }, () => replicas)
      .flat()
      .map(async (rateLimit) => (await rateLimit.take(rail, { wanted: 7, perSecond })).count),
  );
const sumOf = (granted: readonly number[]) => granted.reduce((sum, one) => sum + one, 0);

it('gives half a second’s tokens at first, each of them once, however many replicas meet', async () => {
  expect(sumOf(await rush('first', 0.01))).toBe(1);
  const granted = await rush('second', 100);
  expect(sumOf(granted)).toBeGreaterThanOrEqual(50);
  expect(Math.max(...granted)).toBe(7);
});

it('keeps the rate, over all replicas, by the database’s clock', async () => {
  const perSecond = 200;
  const fromMs = systemClock.nowMs();
  let taken = 0;
  await eventually(async () => {
    const granted = await Promise.all(
      replicas.map(async (rateLimit) => (await rateLimit.take('rate', { wanted: 50, perSecond })).count),
    );
    taken += sumOf(granted);
    if (systemClock.nowMs() - fromMs < 2_000) throw new Error('not yet');
  });
  const seconds = (systemClock.nowMs() - fromMs) / 1_000;
  // Both clocks count whole milliseconds, and only half a second's tokens are saved up, while a machine may stall for
  // longer.
  expect(taken).toBeLessThanOrEqual(perSecond / 2 + perSecond * seconds + 5);
  expect(taken).toBeGreaterThan(perSecond * seconds * 0.4);
});

it('takes no more than is wanted, and keeps what is given back, but no more than may be saved up', async () => {
  expect(await take('back', 3, 0.01)).toBe(1);
  expect(await take('back', 3, 0.01)).toBe(0);
  await replicas.at(-1)?.giveBack('back', 1);
  expect(await take('back', 3, 0.01)).toBe(1);
  await replicas.at(-1)?.giveBack('back', 50);
  expect(await take('back', 3, 0.01)).toBe(1);
  expect(await take('back', 0, 0.01)).toBe(0);
});

it('has each rail for itself', async () => {
  expect(await take('one', 1, 0.01)).toBe(1);
  expect(await take('one', 1, 0.01)).toBe(0);
  expect(await take('other', 1, 0.01)).toBe(1);
});

it('leaves half of a rail to polls, however much is to be closed', async () => {
  const rates = { perSecondMax: 1_000, railPerSecond: 10 };
  const closes = closeRateLimit(first, 'shared', rates);
  // Five are saved up for the rail, of which closes leave half; their own share would be two as well.
  expect((await closes.take(5)).count).toBe(2);
  expect(await take('shared', 5, 10)).toBeGreaterThanOrEqual(3);
  expect((await closes.take(5)).count).toBe(0);
});

it('lets closes ask a rail of the lowest rate too', async () => {
  const closes = closeRateLimit(first, 'slow', { perSecondMax: 20, railPerSecond: 0.01 });
  expect((await closes.take(5)).count).toBe(1);
  expect(await take('slow', 1, 0.01)).toBe(0);
});

it('gives plain numbers at a rate that the server counts in 64 bits', async () => {
  expect(await take('fast', 600, 1_000)).toBe(500);
  expect(await take('fast', 600, 1_000)).toBeTypeOf('number');
});
