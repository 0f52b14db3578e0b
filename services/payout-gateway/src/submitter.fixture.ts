import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { type Database, ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import type { IsPaused } from '@pesewa/payments';
import type { OutgoingPayout, SubmissionResult } from '@pesewa/rails';
import { createLogger } from '@pesewa/runtime';
import type { ClientSession } from 'mongodb';
import { payoutDatabaseSchema } from './database-schema.ts';
import type { CausedCommand } from './payouts.ts';
import { fromDocument, openPayoutStore, type PayoutDocument, type PayoutStore } from './store.ts';
import { type Submitter, startSubmitter } from './submitter.ts';

const ids = createIds(systemClock, systemRandom);
const logger = createLogger({ name: 'test', level: 'silent' });

type Changes = Partial<Omit<PayoutDocument, 'dueAt'>> & { readonly dueAt?: Date | undefined };

/** A payout whose hold is not placed yet. */
export const accepted = { step: 'awaitingHold', version: 1n, dueAt: undefined } as const;

interface Place {
  readonly database: Database;
  readonly store: PayoutStore;
}

interface Options {
  readonly submit?: (order: OutgoingPayout) => Promise<SubmissionResult>;
  readonly beforeCall?: (clock: { skewMs: number }) => void;
  readonly beforeCommit?: () => void;
  readonly isAvailable?: () => boolean;
  readonly isPaused?: IsPaused;
  readonly concurrencyMax?: number;
  /** Whether the replica's clock stands still. */
  readonly isFrozen?: boolean;
  /** Whether its loops search only when woken. */
  readonly isQuiet?: boolean;
  /** How far the replica's clock is ahead of the database's. */
  readonly skewMs?: number;
}

/** A database of payouts, and submitters over it. */
export async function openSubmitters(url: string, name: string) {
  const database = await openDatabase({ url, database: `${name}${process.pid}`, appName: 'test' });
  await ensureDatabaseSchema(database.db, payoutDatabaseSchema);
  const store = openPayoutStore(database.db);
  const place = { database, store };
  let running = new AsyncDisposableStack();
  return {
    store,
    hold: (changes?: Changes) => hold(place, changes),
    start: (options?: Options) => {
      const started = start(place, options);
      running.use(started.submitter);
      return started;
    },
    makeDue: (submitter: Submitter, references: readonly string[], beforeCommit?: () => void) =>
      makeDue(place, submitter, references, beforeCommit),
    /** Runs the action when the submitters are stopped, before them. */
    defer: (action: () => void) => running.defer(action),
    /** Stops the submitters. */
    stop: () => running.disposeAsync(),
    /** Stops the submitters and removes the payouts. */
    clear: async () => {
      await running.disposeAsync();
      running = new AsyncDisposableStack();
      await store.collection.deleteMany({});
    },
    [Symbol.asyncDispose]: async () => {
      await database.db.dropDatabase();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** A payout that has been due for submission for a second. */
async function hold({ store }: Place, changes: Changes = {}): Promise<string> {
  const reference = ids.next('po');
  const beneficiary = { accountName: 'A. Name', accountNumber: '0123456789', bankCode: '000013' };
  const document = {
    _id: `demo:${reference}`,
    reference,
    merchantId: 'demo',
    order: {
      merchantReference: reference,
      country: 'NGA',
      channel: 'Bank Transfer',
      beneficiary,
      sender: { name: 'Demo', email: 'demo@example.com' },
    },
    amount: 10_000n,
    currency: 'NGN',
    contentHash: '',
    fee: 100n,
    rail: 'upstream',
    queue: 'single',
    acceptedAt: new Date(),
    status: 'INITIALIZED',
    step: 'held',
    version: 2n,
    attempts: 0,
    earlierUnclear: false,
    railFee: 0n,
    dueAt: new Date(Date.now() - 1_000),
    ...changes,
  };
  await store.collection.insertOne(document as unknown as PayoutDocument);
  return reference;
}

/**
 * A replica's submitter with the test's rails; `beforeCall` runs where the process might die or freeze, `beforeCommit`
 * where the database might not answer.
 */
function start({ store, database }: Place, options: Options = {}) {
  const asked: string[] = [];
  const recorded: CausedCommand[] = [];
  const startedAtMs = systemClock.nowMs();
  const clock = {
    ...systemClock,
    skewMs: options.skewMs ?? 0,
    nowMs: () => (options.isFrozen ? startedAtMs : systemClock.nowMs()) + clock.skewMs,
  };
  const submit = async (order: OutgoingPayout): Promise<SubmissionResult> => {
    asked.push(order.reference);
    return options.submit?.(order) ?? { kind: 'acknowledged' };
  };
  const { isAvailable = () => true, isPaused = () => false, concurrencyMax = 16, isQuiet = false } = options;
  // The first search is made at once.
  let maySearch = !isQuiet;
  const submitter = startSubmitter({
    store,
    clock,
    ids,
    logger,
    payouts: {
      apply: async (commands) => {
        recorded.push(...commands);
        return [];
      },
    },
    messaging: {
      isAlive: () => true,
      groupCommit: (_name, apply) => ({
        submit: async (item) => {
          options.beforeCommit?.();
          const [outcome] = await database.client.withSession((session) =>
            apply(
              [item],
              {
                session,
                emit: () => undefined,
                afterCommit: () => undefined,
                afterRollback: () => undefined,
              },
              false,
            ),
          );
          return outcome as never;
        },
      }),
    },
    rails: ['upstream', 'other'].map((name) => ({
      name,
      isAvailable: () => maySearch && isAvailable(),
      payouts: { submit },
    })),
    concurrencyMax,
    isPaused,
    pauseMs: isQuiet ? 600_000 : 20,
    crashPoint: (point) => {
      if (point === 'payouts.submit.before-call') options.beforeCall?.(clock);
    },
  });
  maySearch = true;
  return { asked, recorded, submitter };
}

/** Makes accepted payouts due in one transaction, as their holds do; `beforeCommit` runs between write and commit. */
async function makeDue(
  { store, database }: Place,
  { claimDue }: Pick<Submitter, 'claimDue'>,
  references: readonly string[],
  beforeCommit: () => void = () => undefined,
): Promise<void> {
  const found = await store.collection.find({ reference: { $in: [...references] } }).toArray();
  const changes = found.map(fromDocument).map((before) => {
    const held = { step: 'held', version: before.version + 1n, dueAtMs: systemClock.nowMs() } as const;
    return { before, after: { ...before, ...held } };
  });
  let actions: (() => void)[] = [];
  const rollbacks: (() => void)[] = [];
  const rollBack = () => {
    for (const action of rollbacks.splice(0)) action();
  };
  const work = async (session: ClientSession) => {
    rollBack();
    actions = [];
    const written = claimDue(changes, {
      session,
      emit: () => undefined,
      afterCommit: (action) => void actions.push(action),
      afterRollback: (action) => void rollbacks.push(action),
    });
    await store.save(written, session);
    beforeCommit();
  };
  try {
    await database.client.withSession((session) => session.withTransaction(() => work(session)));
  } catch (error) {
    rollBack();
    throw error;
  }
  for (const action of actions) action();
}
