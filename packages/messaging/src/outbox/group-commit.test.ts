import { MongoServerError } from 'mongodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UnexpectedDocumentError } from '../database/transaction.ts';
import { type ApplyGroup, createGroupCommit, type GroupLimits } from './group-commit.ts';
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

/** A transact that only runs the work, because only the grouping is tested. */
const transact = (async (_name, _origin, work) => ({
  value: await work(none as never),
  sent: Promise.resolve(),
})) as Transact;

function open(apply: ApplyGroup<string, string>, limits: GroupLimits<string> = {}) {
  return createGroupCommit({
    ...limits,
    name: 'test',
    source: 'test',
    transact,
    nextSequence: () => 1,
    apply,
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

it.each([
  ['a unique key was taken', new MongoServerError({ code: 11_000, message: 'taken' })],
  ['a document was changed', new UnexpectedDocumentError('changed')],
])('runs again as a retry when %s meanwhile', async (_what, error) => {
  const tries: boolean[] = [];
  const { submit } = open(async (items, _transaction, isRetry) => {
    tries.push(isRetry);
    if (!isRetry) throw error;
    return Promise.resolve(items);
  });
  const outcome = submit('a');
  await vi.runAllTimersAsync();
  expect(await outcome).toBe('a');
  expect(tries).toEqual([false, true]);
});

it('never applies an item after its caller was refused because it took too long', async () => {
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

function failure(code: number, label: string): MongoServerError {
  return new MongoServerError({ code, message: 'failed', errorLabels: [label] });
}

it('leaves what was given up meanwhile out of every later transaction, whatever the failure', async () => {
  const tries: (readonly string[])[] = [];
  const gate = Promise.withResolvers<void>();
  const { submit } = open(async (items) => {
    tries.push(items);
    if (tries.length > 1) return items;
    await gate.promise;
    throw new TypeError('not known to be anybody’s fault');
  });
  const outcomes = Promise.allSettled(['a', 'b'].map(submit));
  await vi.advanceTimersByTimeAsync(10_001);
  gate.resolve();
  await vi.runAllTimersAsync();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(tries).toEqual([['a', 'b']]);
});

it('commits without those that were given up while it was at work', async () => {
  const tries: (readonly string[])[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { submit } = open(async (items) => {
    tries.push(items);
    await gates[tries.length - 1]?.promise;
    return items;
  });
  const blocker = submit('blocker');
  await vi.advanceTimersByTimeAsync(1);
  const early = submit('early').catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(5_000);
  const later = submit('later');
  gates[0]?.resolve();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await early).toBeInstanceOf(Error);
  gates[1]?.resolve();
  await vi.runAllTimersAsync();
  expect([await blocker, await later]).toEqual(['blocker', 'later']);
  expect(tries).toEqual([['blocker'], ['early', 'later'], ['later']]);
});

it.each([
  ['commit has an unknown outcome', failure(91, 'UnknownTransactionCommitResult')],
  ['cluster was not there for all its retries', failure(251, 'TransientTransactionError')],
])('rejects all of a group whose %s, and tries none alone', async (_what, error) => {
  let tries = 0;
  const { submit } = open(async () => {
    tries += 1;
    return Promise.reject(error);
  });
  const outcomes = Promise.allSettled(['a', 'b', 'c'].map(submit));
  await vi.runAllTimersAsync();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(tries).toBe(1);
});

describe('a conflict with another transaction', () => {
  const conflict = failure(112, 'TransientTransactionError');
  const ownerOf = (item: string) => item.slice(0, 1);

  /** Applies all items except those that another transaction is writing. */
  function openContested(limits: GroupLimits<string> = {}) {
    const contested = new Set<string>();
    const tries: (readonly string[])[] = [];
    const { submit } = open(async (items) => {
      tries.push(items);
      if (items.some((item) => contested.has(item))) return Promise.reject(conflict);
      return Promise.resolve(items);
    }, limits);
    return { contested, tries, submit };
  }

  it('delays only its owner: the others of the group commit at once, and so do later groups', async () => {
    const { contested, tries, submit } = openContested({ ownerOf });
    contested.add('a2');
    const finished: string[] = [];
    const note = async (item: string) => void finished.push(await submit(item));
    for (const item of ['b1', 'a1', 'c1', 'a2', 'd1', 'b2']) void note(item);
    await vi.advanceTimersByTimeAsync(1);
    expect(finished.toSorted()).toEqual(['a1', 'b1', 'b2', 'c1', 'd1']);
    void note('e1');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(finished.at(-1)).toBe('e1');
    contested.clear();
    await vi.advanceTimersByTimeAsync(400);
    expect(finished.at(-1)).toBe('a2');
    expect(tries.length).toBeLessThan(20);
  });

  it('ends with the time of the waiting caller', async () => {
    const { contested, tries, submit } = openContested();
    contested.add('x');
    const outcomes = Promise.allSettled(['x', 'y'].map(submit));
    await vi.runAllTimersAsync();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    contested.clear();
    const before = tries.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tries.length).toBe(before);
  });

  it('keeps an item that commits alone in its place, where its turn is waited for', async () => {
    const asked: unknown[] = [];
    const { submit } = createGroupCommit<string, string>({
      name: 'test',
      source: 'test',
      transact: async (name, origin, work, conflicts) => {
        asked.push(conflicts);
        return transact(name, origin, work);
      },
      nextSequence: () => 1,
      apply: async (items) => Promise.resolve(items),
      itemsMax: 1,
    });
    const outcome = submit('a');
    await vi.runAllTimersAsync();
    expect([await outcome, asked]).toEqual(['a', ['retry']]);
  });
});
