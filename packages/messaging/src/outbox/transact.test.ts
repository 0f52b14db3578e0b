import { MongoError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { expect, it } from 'vitest';
import type { Transaction } from './outbox.ts';
import { type OutgoingEvent, outboxRecordId } from './outbox.ts';
import {
  createSerialiser,
  createSharedTransact,
  createTransact,
  createTransactAll,
  type TransactAll,
} from './transact.ts';

/** Shared transactions over work that is run for real, but not in a database; gives the names that shared each one. */
function share(gate: Promise<void> = Promise.resolve()) {
  const transactions: string[][] = [];
  let running = 0;
  const conflicts: string[] = [];
  const transactAll: TransactAll = async (jobs, onConflict) => {
    conflicts.push(onConflict);
    running += 1;
    expect(running).toBe(1);
    transactions.push(jobs.flatMap(({ name }) => name ?? []));
    try {
      await gate;
      const values: unknown[] = [];
      for (const { work } of jobs) values.push(await work({} as Transaction));
      return values.map((value) => ({ value, sent: Promise.resolve() }));
    } finally {
      running -= 1;
    }
  };
  const runSerially = createSerialiser();
  const transact = createSharedTransact(transactAll, runSerially);
  const run = (name: string, work: () => Promise<string> = async () => name) =>
    transact(name, { source: name, sequence: 1 }, work).then(({ value }) => value);
  return { run, transactions, conflicts, runSerially };
}

it('runs what arrives during a transaction in the next one, in order', async () => {
  const gate = Promise.withResolvers<void>();
  const { run, transactions } = share(gate.promise);
  const first = run('a');
  await expect.poll(() => transactions).toEqual([['a']]);
  const others = ['b', 'c', 'd'].map((name) => run(name));
  gate.resolve();
  expect(await Promise.all([first, ...others])).toEqual(['a', 'b', 'c', 'd']);
  expect(transactions).toEqual([['a'], ['b', 'c', 'd']]);
});

it('bounds how much shares a transaction', async () => {
  const { run, transactions } = share();
  await Promise.all(Array.from({ length: 20 }, (_, index) => run(`${index}`)));
  expect(transactions.map((jobs) => jobs.length)).toEqual([8, 8, 4]);
});

it('runs each piece by itself where one fails, so that none fails for another', async () => {
  const { run, transactions } = share();
  const refuse = () => Promise.reject(new Error('refused'));
  const all = await Promise.allSettled([run('a'), run('b', refuse), run('c')]);
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(transactions).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
});

it('repeats nothing together where one meets a conflict: each goes on by its own rule', async () => {
  const { run, transactions, conflicts } = share();
  let tries = 0;
  const meets = async () => {
    tries += 1;
    if (tries > 1) return 'b';
    throw new MongoServerError({
      message: 'write conflict',
      code: 112,
      errorLabels: ['TransientTransactionError'],
    });
  };
  expect(await Promise.all([run('a'), run('b', meets)])).toEqual(['a', 'b']);
  expect(transactions).toEqual([['a', 'b'], ['a'], ['b']]);
  expect(conflicts).toEqual(['throw', 'retry', 'retry']);
});

it('does not repeat the work where the connection or the cluster is at fault: it may have committed', async () => {
  const { run, transactions } = share();
  const lost = new MongoError('lost');
  lost.addErrorLabel('UnknownTransactionCommitResult');
  const all = await Promise.allSettled([run('a'), run('b', () => Promise.reject(lost))]);
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(transactions).toEqual([['a', 'b']]);
});

it('lets other work have its turn between two transactions', async () => {
  const gate = Promise.withResolvers<void>();
  const { run, transactions, runSerially } = share(gate.promise);
  const first = run('a');
  await expect.poll(() => transactions).toEqual([['a']]);
  let seen: readonly string[][] = [];
  const between = runSerially(async () => {
    seen = transactions.slice();
  });
  const second = run('b');
  gate.resolve();
  await Promise.all([first, between, second]);
  expect(seen).toEqual([['a']]);
  expect(transactions).toEqual([['a'], ['b']]);
});

it('a serialiser keeps the order of the calls, also of those that come as another ends, and survives failures', async () => {
  const runSerially = createSerialiser();
  const ran: string[] = [];
  let running = 0;
  const work = (name: string) => async () => {
    running += 1;
    expect(running).toBe(1);
    await new Promise(setImmediate);
    running -= 1;
    ran.push(name);
    if (name === 'b') throw new Error('refused');
  };
  const first = runSerially(work('a')).then(() => runSerially(work('d')));
  const refused = runSerially(work('b')).catch((error: unknown) => error);
  await Promise.all([first, refused, runSerially(work('c'))]);
  expect(await refused).toEqual(new Error('refused'));
  expect(ran).toEqual(['a', 'b', 'c', 'd']);
});

it('has crash points around the commit of named work only', async () => {
  const points: string[] = [];
  const session = { startTransaction: () => undefined, commitTransaction: async () => undefined };
  const deps = {
    clock: { nowMs: () => 0 },
    crashPoint: (point: string) => void points.push(point),
    client: { withSession: (work: (of: typeof session) => unknown) => work(session) },
    relay: { send: async () => undefined },
    emitted: () => undefined,
  };
  const transact = createTransact(
    createTransactAll(deps as unknown as Parameters<typeof createTransactAll>[0]),
  );
  for (const name of [null, 'a']) await transact(name, { source: 's', sequence: 1 }, async () => undefined);
  expect(points).toEqual(['a.before-commit', 'a.after-commit']);
});

it('gives the relay what may have been committed, but not what a partition begins with when it is opened again', async () => {
  const given: (readonly string[])[] = [];
  const session = {
    startTransaction: () => undefined,
    inTransaction: () => false,
    commitTransaction: () => Promise.reject(new MongoServerSelectionError('no primary', {} as never)),
  };
  const deps = {
    clock: { nowMs: () => Date.now(), sleep: async () => undefined },
    random: { fraction: () => 0 },
    crashPoint: () => undefined,
    client: { withSession: (work: (of: typeof session) => unknown) => work(session) },
    encoder: { event: () => ({ topic: 't', key: 'k', body: Buffer.of(1) }) },
    outbox: { insertMany: async () => undefined },
    relay: { sendIfCommitted: (ids: readonly string[]) => void given.push(ids) },
  };
  const transact = createTransact(
    createTransactAll(deps as unknown as Parameters<typeof createTransactAll>[0]),
  );
  for (const source of ['commit/test/me', 'group/topic/0'])
    await expect(
      transact(null, { source, sequence: 1 }, async ({ emit }) => emit({} as OutgoingEvent)),
    ).rejects.toThrow('no primary');
  expect(given).toEqual([[outboxRecordId('commit/test/me', 1)], []]);
});
