import { setImmediate as nextTurn } from 'node:timers/promises';
import { steady } from '@pesewa/kernel';
import type { CrashPoint } from '@pesewa/runtime';
import type { ClientSession, MongoClient } from 'mongodb';
import {
  isCommitUnknown,
  isTransactionExpired,
  isTransientMongoError,
  isWriteConflict,
} from '../database/mongo.ts';
import { type Conflicts, runTransaction, type TransactionDeps } from '../database/transaction.ts';
import type { MessageEncoder } from './message-encoder.ts';
import {
  type EncodedMessage,
  isGroupCommit,
  type Outbox,
  type OutboxRecord,
  packOutboxRecord,
  splitIntoOutboxRecords,
  type Transaction,
} from './outbox.ts';
import type { Relay } from './relay.ts';

/** The source of an outbox record and its place in that source's order. */
export interface OutboxRecordOrigin {
  readonly source: string;
  readonly sequence: number;
}

/** The outcome of a committed transaction, and a promise that resolves when its events are in Kafka. */
export interface Committed<Value> {
  readonly value: Value;
  readonly sent: Promise<void>;
}

/**
 * Runs work in one majority transaction whose events are published if and only if it commits; conflicts are retried.
 */
export type Transact = <Value>(
  /** The name of its crash points; null for work that has none. */
  name: string | null,
  origin: OutboxRecordOrigin,
  work: (transaction: Transaction) => Promise<Value>,
  conflicts?: Conflicts,
) => Promise<Committed<Value>>;

/** The dependencies of transactions. */
export interface TransactOptions extends TransactionDeps {
  readonly client: MongoClient;
  readonly outbox: Outbox;
  readonly relay: Relay;
  readonly encoder: MessageEncoder;
  readonly crashPoint: CrashPoint;
  /** Called with the types of the events that were committed and will be published. */
  readonly emitted: (types: readonly string[]) => void;
}

/** Builds {@link Transact}: each piece of work has a transaction of its own, unlike {@link createSharedTransact}'s. */
export function createTransact(transactAll: TransactAll): Transact {
  return async (name, origin, work, conflicts = 'retry') => {
    const [committed] = await transactAll([{ name, origin, work }], conflicts);
    return committed as Committed<Awaited<ReturnType<typeof work>>>;
  };
}

/** A piece of work for a transaction, and the origin of what it emits. */
export interface Job {
  readonly name: string | null;
  readonly origin: OutboxRecordOrigin;
  readonly work: (transaction: Transaction) => Promise<unknown>;
}

/** Runs several pieces of work, in their order, in one transaction as {@link Transact} does one. */
export type TransactAll = (
  jobs: readonly Job[],
  conflicts: Conflicts,
) => Promise<readonly Committed<unknown>[]>;

/** The outcome of a piece of work within a transaction. */
interface Done {
  readonly value: unknown;
  readonly records: readonly OutboxRecord[];
  readonly actions: readonly (() => void)[];
  readonly types: readonly string[];
}

/**
 * Builds {@link TransactAll}. The work may run more than once: a conflict or a lost connection reruns it, for some
 * seconds. So it may only read and write MongoDB through the session, and must never call the outside.
 */
export function createTransactAll(options: TransactOptions): TransactAll {
  const crash = (jobs: readonly Job[], place: 'before-commit' | 'after-commit') => {
    for (const { name } of jobs) if (name !== null) options.crashPoint(`${name}.${place}`);
  };
  const durations = { ...options, clock: steady(options.clock) };
  return async (jobs, conflicts) => {
    const rollbacks: (() => void)[] = [];
    const rollBack = () => {
      for (const action of rollbacks.splice(0)) action();
    };
    let records: readonly OutboxRecord[] = [];
    const work = async (session: ClientSession) => {
      rollBack();
      const done: Done[] = [];
      for (const job of jobs)
        done.push(await run(options, job, session, (action) => void rollbacks.push(action)));
      records = done.flatMap((one) => one.records);
      if (records.length > 0) await options.outbox.insertMany(records.map(packOutboxRecord), { session });
      crash(jobs, 'before-commit');
      return done;
    };
    const all = await options.client
      .withSession((session) => runTransaction(durations, session, conflicts, () => work(session)))
      .catch((error: unknown) => {
        rollBack();
        // A partition is opened again, and begins with what it has left.
        if (isCommitUnknown(error))
          options.relay.sendIfCommitted(records.map(({ _id }) => _id).filter(isGroupCommit));
        throw error;
      });
    crash(jobs, 'after-commit');
    return all.map(({ value, records: own, actions, types }) => {
      for (const action of actions) action();
      options.emitted(types);
      const sent = Promise.all(own.map(options.relay.send)).then(() => undefined);
      // Callers that need to know await `sent`; for all others the sweeper repeats a failed send.
      sent.catch(() => undefined);
      return { value, sent };
    });
  };
}

async function run(
  { encoder, clock }: Pick<TransactOptions, 'encoder' | 'clock'>,
  { origin, work }: Job,
  session: ClientSession,
  afterRollback: Transaction['afterRollback'],
): Promise<Done> {
  const messages: EncodedMessage[] = [];
  const actions: (() => void)[] = [];
  const types: string[] = [];
  const value = await work({
    session,
    emit: (event, traceparent) => {
      messages.push(encoder.event(event, traceparent));
      types.push(event.type);
    },
    afterCommit: (action) => void actions.push(action),
    afterRollback,
  });
  const records = splitIntoOutboxRecords(origin, messages, new Date(clock.nowMs()));
  return { value, records, actions, types };
}

/** Runs work after all that was given to it before has ended. */
export type RunSerially = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** Builds {@link RunSerially}. */
export function createSerialiser(): RunSerially {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const outcome = last.then(work);
    last = outcome.catch(() => undefined);
    return outcome;
  };
}

interface Waiting extends Job {
  readonly conflicts: Conflicts;
  readonly done: PromiseWithResolvers<Committed<unknown>>;
}

/** Bounds the time that a transaction takes. */
const JOBS_MAX = 8;

/**
 * Builds a {@link Transact} with one transaction at a time: work that arrives meanwhile shares the next one. So a busy
 * service commits less often, and its own batches never conflict (ADR 2).
 *
 * If shared work fails, each piece runs by itself: none fails for the sake of another. Only a fault of the connection
 * or the cluster is that of all.
 */
export function createSharedTransact(transactAll: TransactAll, runSerially: RunSerially): Transact {
  const waiting: Waiting[] = [];

  async function runAlone(job: Waiting): Promise<void> {
    await transactAll([job], job.conflicts).then(([committed]) => {
      if (committed) job.done.resolve(committed);
    }, job.done.reject);
  }

  async function runWaiting(): Promise<void> {
    // The batches of one fetch arrive within one turn of the event loop.
    await nextTurn();
    const jobs = waiting.splice(0, JOBS_MAX);
    const [first] = jobs;
    if (!first) return;
    if (jobs.length === 1) return runAlone(first);
    try {
      const all = await transactAll(jobs, 'throw');
      for (const [index, committed] of all.entries()) jobs[index]?.done.resolve(committed);
    } catch (error) {
      if (isTransientMongoError(error) && !isTransactionExpired(error) && !isWriteConflict(error))
        for (const { done } of jobs) done.reject(error);
      else for (const job of jobs) await runAlone(job);
    }
  }

  return async (name, origin, work, conflicts = 'retry') => {
    const done = Promise.withResolvers<Committed<unknown>>();
    // Each transaction takes up to so many.
    if (waiting.length % JOBS_MAX === 0) void runSerially(runWaiting);
    waiting.push({ name, origin, work, conflicts, done });
    return (await done.promise) as Committed<Awaited<ReturnType<typeof work>>>;
  };
}
