import { type ClientSession, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { expect, it } from 'vitest';
import { type Conflicts, runTransaction } from './transaction.ts';

function failure(code: number, label?: string): MongoServerError {
  return new MongoServerError({ code, message: 'failed', ...(label && { errorLabels: [label] }) });
}

const conflict = failure(112, 'TransientTransactionError');
const moved = failure(251, 'TransientTransactionError');
const unknown = failure(91, 'UnknownTransactionCommitResult');

/** A session that records the calls. The given failures come one by one; after them every call succeeds. */
function openSession(failures: { work?: readonly Error[]; commit?: readonly Error[] }) {
  const work = [...(failures.work ?? [])];
  const commits = [...(failures.commit ?? [])];
  const calls: string[] = [];
  let active = false;
  const next = (from: Error[], name: string) => {
    calls.push(name);
    const error = from.shift();
    return error ? Promise.reject(error) : Promise.resolve(name);
  };
  const session = {
    startTransaction: () => {
      active = true;
    },
    inTransaction: () => active,
    abortTransaction: async () => {
      active = false;
      await next([], 'abort');
    },
    commitTransaction: async () => {
      active = false;
      await next(commits, 'commit');
    },
  };
  let nowMs = 0;
  const clock = {
    nowMs: () => nowMs,
    sleep: () => {
      nowMs += 1_000;
      return Promise.resolve();
    },
  };
  const deps = { clock, random: { fraction: () => 1, bytes: (length: number) => new Uint8Array(length) } };
  return {
    calls,
    run: (conflicts: Conflicts = 'retry') =>
      runTransaction(deps, session as unknown as ClientSession, conflicts, () => next(work, 'work')),
  };
}

it('tries anew what is known to have left nothing behind', async () => {
  const { calls, run } = openSession({ work: [conflict], commit: [moved] });
  await run();
  expect(calls).toEqual(['work', 'abort', 'work', 'commit', 'work', 'commit']);
});

it('asks for a commit again that got no answer, and never runs the work anew for it', async () => {
  const { calls, run } = openSession({ commit: [unknown, unknown] });
  await run();
  expect(calls).toEqual(['work', 'commit', 'commit', 'commit']);
});

it.each([
  ['work', { work: Array<Error>(100).fill(moved) }],
  ['commit', { commit: Array<Error>(100).fill(unknown) }],
] as const)('gives up on a %s that still fails after eight seconds', async (name, failures) => {
  const { calls, run } = openSession(failures);
  await expect(run()).rejects.toThrow('failed');
  expect(calls.filter((call) => call === name)).toHaveLength(9);
});

it('leaves a conflict to callers that asked for it, and an error that is not the cluster’s to all callers', async () => {
  const contested = openSession({ work: [conflict] });
  await expect(contested.run('throw')).rejects.toBe(conflict);
  expect(contested.calls).toEqual(['work', 'abort']);
  const broken = openSession({ work: [new TypeError('broken')] });
  await expect(broken.run()).rejects.toThrow('broken');
  expect(broken.calls).toEqual(['work', 'abort']);
});

it('does not ask again for a commit that had all the time it was given', async () => {
  const { calls, run } = openSession({ commit: [failure(50, 'UnknownTransactionCommitResult')] });
  await expect(run()).rejects.toThrow('failed');
  expect(calls).toEqual(['work', 'commit']);
});

it('asks for a commit again that no server was there to answer', async () => {
  const gone = new MongoServerSelectionError('no primary', {} as never);
  const { calls, run } = openSession({ commit: [gone] });
  await run();
  expect(calls).toEqual(['work', 'commit', 'commit']);
});
