import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import type { OutgoingPayout, SubmissionResult } from '@pesewa/rails';
import { createLogger } from '@pesewa/runtime';
import { eventually } from '@pesewa/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { payoutDatabaseSchema } from './database-schema.ts';
import type { PayoutCommand } from './domain/payout.ts';
import { openPayoutStore, type PayoutDocument, type PayoutStore } from './store.ts';
import { startSubmitter } from './submitter.ts';

const ids = createIds(systemClock, systemRandom);
const logger = createLogger({ name: 'test', level: 'silent' });
const name = `submitter${process.pid}`;
let database: Awaited<ReturnType<typeof openDatabase>>;
let store: PayoutStore;
let running = new AsyncDisposableStack();

beforeAll(async () => {
  database = await openDatabase({ url: process.env['MONGODB_URL'] ?? '', database: name, appName: 'test' });
  await ensureDatabaseSchema(database.db, payoutDatabaseSchema);
  store = openPayoutStore(database.db);
});

afterEach(async () => {
  await running.disposeAsync();
  running = new AsyncDisposableStack();
  await store.collection.deleteMany({});
});

afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

/** A payout that has been due for submission for a second. */
async function hold(changes: Partial<PayoutDocument> = {}): Promise<string> {
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
function start(
  options: {
    readonly submit?: (order: OutgoingPayout) => Promise<SubmissionResult>;
    readonly beforeCall?: (clock: { skewMs: number }) => void;
    readonly beforeCommit?: () => void;
    readonly isAvailable?: () => boolean;
    readonly mayAct?: () => boolean;
    readonly concurrencyMax?: number;
    /** How far the replica's clock is ahead of the database's. */
    readonly skewMs?: number;
  } = {},
) {
  const asked: string[] = [];
  const recorded: { readonly reference: string; readonly command: PayoutCommand }[] = [];
  const clock = {
    ...systemClock,
    skewMs: options.skewMs ?? 0,
    nowMs: () => systemClock.nowMs() + clock.skewMs,
  };
  const submit = async (order: OutgoingPayout): Promise<SubmissionResult> => {
    asked.push(order.reference);
    return options.submit?.(order) ?? { kind: 'accepted' };
  };
  const { isAvailable = () => true, mayAct = () => true, concurrencyMax = 16 } = options;
  running.use(
    startSubmitter({
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
      rails: ['upstream', 'other'].map((name) => ({ name, isAvailable, payouts: { submit } })),
      concurrencyMax,
      mayAct,
      pauseMs: 20,
      crashPoint: (point) => {
        if (point === 'payouts.submit.before-call') options.beforeCall?.(clock);
      },
    }),
  );
  return { asked, recorded };
}

describe('the submitter', () => {
  it('has committed the attempt before the rail is called (X2)', async () => {
    const reference = await hold();
    let seen: PayoutDocument | null = null;
    const { recorded } = start({
      submit: async (order) => {
        seen = await store.collection.findOne({ reference: order.reference });
        return { kind: 'accepted' };
      },
    });
    await eventually(() => expect(recorded).toHaveLength(1));
    expect(seen).toMatchObject({ step: 'submitting', attempts: 1, version: 3n });
    const command = { kind: 'recordAttempt', attempt: 1, outcome: { kind: 'accepted' } };
    expect(recorded).toMatchObject([{ reference, command }]);
  });

  it('does not call the rail on a claim that has grown old: it gives the payout back', async () => {
    await hold();
    const { asked, recorded } = start({
      beforeCall: (clock) => {
        clock.skewMs += 2_100;
      },
    });
    await eventually(() => expect(recorded.length).toBeGreaterThan(0));
    expect(asked).toEqual([]);
    expect(recorded[0]?.command).toMatchObject({ attempt: 1, outcome: { kind: 'notSent' } });
  });

  it.each([-4_000, 4_000])('calls the rail by a clock that is %i ms off the database’s', async (skewMs) => {
    const reference = await hold({ dueAt: new Date(Date.now() - 10_000) });
    const { asked } = start({ skewMs });
    await eventually(() => expect(asked).toEqual([reference]));
  });

  it('never takes up an attempt whose lease has run out: the lookup decides (ADR 5)', async () => {
    const lost = await hold({ step: 'submitting', attempts: 1, attemptedAt: new Date(Date.now() - 60_000) });
    const { asked } = start();
    const later = [await hold(), await hold()];
    await eventually(() => expect(asked.toSorted()).toEqual(later.toSorted()));
    expect(await store.collection.findOne({ reference: lost })).toMatchObject({ attempts: 1 });
  });

  it('shares the work with another replica: each payout is sent once', async () => {
    const due = await Promise.all(Array.from({ length: 60 }, () => hold()));
    const both = Promise.withResolvers<SubmissionResult>();
    const replicas = [0, 1].map(() =>
      start({
        // The rail answers only after both have called it.
        submit: () => {
          if (replicas.every(({ asked }) => asked.length > 0)) both.resolve({ kind: 'accepted' });
          return both.promise;
        },
      }),
    );
    await eventually(() => expect(replicas.flatMap(({ recorded }) => recorded)).toHaveLength(due.length));
    expect(replicas.flatMap(({ asked }) => asked).toSorted()).toEqual(due.toSorted());
  });

  it('records a refusal again and again until it is committed: the rail would not know it any more', async () => {
    const reference = await hold();
    let elections = 3;
    const { asked, recorded } = start({
      submit: async () => ({ kind: 'failed', reason: 'No account' }),
      beforeCommit: () => {
        elections -= 1;
        if (elections >= 0) throw new Error('no primary');
      },
    });
    await eventually(() => expect(recorded).toHaveLength(1));
    const outcome = { kind: 'failed', reason: 'No account' };
    expect(recorded).toMatchObject([{ reference, command: { attempt: 1, outcome } }]);
    expect(asked).toEqual([reference]);
  });

  it('closes although an outcome cannot be committed', async () => {
    await hold();
    let tries = 0;
    const { recorded } = start({
      beforeCommit: () => {
        tries += 1;
        throw new Error('no primary');
      },
    });
    await eventually(() => expect(tries).toBeGreaterThan(2));
    await running.disposeAsync();
    expect(recorded).toEqual([]);
  });

  it('sends what is due on one rail while another rail does not answer', async () => {
    const stuck = await Promise.all(Array.from({ length: 4 }, () => hold()));
    const silence = Promise.withResolvers<SubmissionResult>();
    const { asked } = start({
      concurrencyMax: 2,
      submit: async ({ reference }) => (stuck.includes(reference) ? silence.promise : { kind: 'accepted' }),
    });
    running.defer(() => silence.resolve({ kind: 'accepted' }));
    await eventually(() => expect(asked).toHaveLength(2));
    const other = await hold({ rail: 'other', dueAt: new Date() });
    await eventually(() => expect(asked).toContain(other));
  });

  it('sends a single payout while a batch that was due before it has no end', async () => {
    const batch = { batchReference: 'ba-1', queue: 'batch' } as const;
    const items = await Promise.all(Array.from({ length: 4 }, () => hold(batch)));
    const silence = Promise.withResolvers<SubmissionResult>();
    const { asked } = start({
      concurrencyMax: 2,
      submit: async ({ reference }) => (items.includes(reference) ? silence.promise : { kind: 'accepted' }),
    });
    running.defer(() => silence.resolve({ kind: 'accepted' }));
    await eventually(() => expect(asked).toHaveLength(2));
    const single = await hold({ dueAt: new Date() });
    await eventually(() => expect(asked).toContain(single));
  });

  it('claims nothing for a rail whose circuit is open, and goes on when it may be tried', async () => {
    const reference = await hold();
    let looks = 0;
    let available = false;
    const isAvailable = () => {
      looks += 1;
      return available;
    };
    const { asked } = start({ isAvailable });
    await eventually(() => expect(looks).toBeGreaterThan(8));
    expect(await store.collection.findOne({ reference })).toMatchObject({ step: 'held', attempts: 0 });
    available = true;
    await eventually(() => expect(asked).toEqual([reference]));
  });
});
