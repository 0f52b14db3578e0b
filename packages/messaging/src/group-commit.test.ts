import { MongoServerError } from 'mongodb';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type ApplyGroup, createGroupCommit } from './group-commit.ts';
import type { Transact } from './transact.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const none = {
  session: undefined,
  emit: () => undefined,
  afterCommit: () => undefined,
  send: () => undefined,
};

/** A transact that only runs the work: what it groups is what is tested. */
const transact = (async (_name, _origin, work) => ({
  value: await work(none as never),
  sent: Promise.resolve(),
})) as Transact;

function open(apply: ApplyGroup<string, string>, groupsMax = 1) {
  return createGroupCommit({
    name: 'test',
    source: 'test',
    transact,
    nextSequence: () => 1,
    apply,
    groupsMax,
  });
}

it('lets items that come together share one transaction, each with its own outcome', async () => {
  const groups: (readonly string[])[] = [];
  const { submit } = open(async (items) => {
    groups.push(items);
    return Promise.resolve(items.map((item) => item.toUpperCase()));
  });
  const outcomes = Promise.all(['a', 'b', 'c'].map(submit));
  await vi.runAllTimersAsync();
  expect(await outcomes).toEqual(['A', 'B', 'C']);
  expect(groups).toEqual([['a', 'b', 'c']]);
});

it('takes no item down for another that cannot be applied', async () => {
  const { submit } = open(async (items) => {
    if (items.includes('bad')) throw new TypeError('not this one');
    return Promise.resolve(items);
  });
  const outcomes = Promise.allSettled(['a', 'bad', 'c'].map(submit));
  await vi.runAllTimersAsync();
  expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

it('runs again carefully when a unique key was taken meanwhile', async () => {
  const tries: boolean[] = [];
  const { submit } = open(async (items, _transaction, careful) => {
    tries.push(careful);
    if (!careful) throw new MongoServerError({ code: 11_000, message: 'taken' });
    return Promise.resolve(items);
  });
  const outcome = submit('a');
  await vi.runAllTimersAsync();
  expect(await outcome).toBe('a');
  expect(tries).toEqual([false, true]);
});

it('never applies behind the back of whoever was refused because it took too long', async () => {
  const applied: string[] = [];
  const gate = Promise.withResolvers<void>();
  const { submit } = open(async (items) => {
    await gate.promise;
    applied.push(...items);
    return items;
  });
  const first = submit('first').catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(1);
  const second = submit('second').catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(10_001);
  expect(await second).toBeInstanceOf(Error);
  gate.resolve();
  await vi.runAllTimersAsync();
  expect(await first).toBeInstanceOf(Error);
  expect(applied).toEqual(['first']);
});
