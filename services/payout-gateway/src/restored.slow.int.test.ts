import { systemClock } from '@pesewa/kernel';
import { openDatabase } from '@pesewa/messaging';
import type { SubmissionResult } from '@pesewa/rails';
import { eventually, openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { batch, merchantWith, single } from './acceptance.fixture.ts';
import {
  type Backup,
  copyOf,
  openLedger,
  openGateway as openLife,
  putBack,
  type Rail,
  recover as repair,
} from './restored.fixture.ts';

/** The pauses before a stopped partition, and before the database, is checked again; here nearly swapped. And that of a repair. */
const pauses = new Map([
  [15_000, 1_500],
  [1_000, 20],
  [7_000, 20],
]);

const clock: typeof systemClock = {
  ...systemClock,
  sleep: (durationMs, signal) => systemClock.sleep(pauses.get(durationMs) ?? durationMs, signal),
};

/** The paying merchant. */
const demo = merchantWith('demo');
let config: TestConfig;
const closers = new AsyncDisposableStack();

beforeAll(async () => {
  config = await prepareTestEnvironment();
  await openLedger(closers.use(openTestScope(config)));
});

afterAll(() => closers.disposeAsync());

/** One run of the gateway. */
const openGateway = (rail?: Rail) => openLife(openTestScope(config, { clock }), rail);

type Gateway = Awaited<ReturnType<typeof openGateway>>;

/** Requests a payout, which is accepted; gives our reference. */
const accept = async (gateway: Gateway, name: string): Promise<string> => {
  const accepted = await gateway.payouts.request(demo, single(name));
  if (!accepted.ok) throw new Error(accepted.refusal.message);
  return accepted.value.reference;
};

/** Waits until a payout's record has these fields. */
const expectStep = ({ store }: Gateway, reference: string, changes: object) =>
  eventually(
    async () => expect(await store.collection.findOne({ reference })).toMatchObject(changes),
    20_000,
  );

/** Waits until everything that the database has applied of the ledger's topic is committed to Kafka. */
const expectCommitted = ({ messaging }: Gateway) =>
  eventually(async () => {
    const ends = (await messaging.ends(['ledger'], 5_000)) ?? [];
    expect(ends.length).toBeGreaterThan(0);
    expect(await messaging.hasApplied('payout-gateway', ends, 5_000)).toBe(true);
  }, 20_000);

/** Repairs the restored database, without which no gateway starts. */
async function recover(): Promise<void> {
  {
    await using refused = openTestScope(config, { clock });
    await expect(openLife(refused)).rejects.toThrow('the database may be an older one');
  }
  const copy = async () => {
    await using database = await openDatabase({
      url: config.MONGODB_URL,
      database: `${config.DATABASE_PREFIX}payouts`,
      appName: 'test',
    });
    return (await copyOf(database.db)).get('payouts');
  };
  const before = await copy();
  {
    await using scope = openTestScope(config);
    expect(await repair(scope, true)).toContain('nothing was changed');
  }
  expect(await copy()).toEqual(before);
  {
    await using scope = openTestScope(config, { clock });
    expect(await repair(scope)).toContain('recovered; 1 partitions');
  }
}

it('sends nothing that the rail has ended since the backup that the database was restored from', async () => {
  const references: Record<string, string> = {};
  {
    await using gateway = await openGateway(() => ({
      kind: 'notSent',
      why: 'busy',
      retryAfterMs: 500,
    }));
    references['held'] = await accept(gateway, 'held');
    references['held and paid'] = await accept(gateway, 'held-paid');
    for (const reference of Object.values(references))
      await eventually(async () => {
        const tried = { reference, step: 'held', attempts: { $gte: 1 } } as const;
        expect(await gateway.store.collection.countDocuments(tried)).toBe(1);
      }, 20_000);
  }
  let backup: Backup;
  {
    await using gateway = await openGateway();
    references['accepted'] = await accept(gateway, 'accepted');
    references['accepted and paid'] = await accept(gateway, 'accepted-paid');
    backup = await copyOf(gateway.db);
  }
  const paid = [references['held and paid'], references['accepted and paid']];
  const all = Object.values(references);
  {
    await using gateway = await openGateway((reference) =>
      paid.includes(reference) ? { kind: 'completed', fee: 3n } : { kind: 'failed', reason: 'No account' },
    );
    for (const reference of all) await expectStep(gateway, reference, { step: 'ended' });
    await expectCommitted(gateway);
  }
  await putBack(config, backup);
  await recover();
  await using gateway = await openGateway(() => ({ kind: 'acknowledged' }));
  for (const reference of all) {
    const end = paid.includes(reference)
      ? { status: 'COMPLETED', railFee: 3n }
      : { status: 'FAILED', statusReason: 'No account' };
    await expectStep(gateway, reference, { step: 'ended', ...end });
  }
  // A later payout is paid, so nothing before it is still waiting.
  const next = await accept(gateway, 'next');
  await expectStep(gateway, next, { step: 'submitted' });
  expect(gateway.asked).toEqual([next]);
}, 120_000);

/** The rail's answer for each payout of the second test; payouts that are missing here are never sent. */
const answers: Readonly<Record<string, SubmissionResult>> = {
  paid: { kind: 'completed', fee: 3n },
  declined: { kind: 'failed', reason: 'No account' },
  taken: { kind: 'acknowledged' },
  unclear: { kind: 'unknown', why: 'no answer' },
};

it('knows again what was accepted since the backup, and sends none of it, however often its merchant does', async () => {
  const items = [
    ['of-batch-1', 1.5],
    ['of-batch-2', 2.25],
  ] as const;
  let backup: Backup;
  let before: string;
  {
    await using gateway = await openGateway();
    before = await accept(gateway, 'before-the-backup');
    backup = await copyOf(gateway.db);
  }
  const references: Record<string, string> = {};
  const steps: Record<string, string> = {
    paid: 'ended',
    declined: 'ended',
    taken: 'submitted',
    unclear: 'unknown',
  };
  {
    const busy = { kind: 'notSent', why: 'busy', retryAfterMs: 500 } as const;
    await using gateway = await openGateway((reference) => {
      const name = Object.keys(references).find((one) => references[one] === reference) ?? '';
      return answers[name] ?? busy;
    });
    for (const name of ['paid', 'declined', 'taken', 'unclear', 'unsent'])
      references[name] = await accept(gateway, name);
    expect(await gateway.batches.request(demo, batch('batch', items))).toMatchObject({ ok: true });
    for (const [name, step] of Object.entries(steps))
      await expectStep(gateway, references[name] ?? '', { step });
    for (const of of ['unsent', 'of-batch-1', 'of-batch-2'])
      await eventually(async () => {
        expect(await gateway.payouts.find('demo', of)).toMatchObject({ step: 'held' });
      }, 20_000);
    await expectCommitted(gateway);
  }
  await putBack(config, backup);
  await recover();
  await using gateway = await openGateway(() => ({ kind: 'acknowledged' }));
  const statuses = { paid: 'COMPLETED', declined: 'FAILED' } as Readonly<Record<string, string>>;
  for (const [name, reference] of Object.entries(references)) {
    const status = statuses[name] ?? 'INITIALIZED';
    const known = { reference, status, recipientKnown: false };
    expect(await gateway.payouts.find('demo', name)).toMatchObject(known);
    expect(await gateway.payouts.request(demo, single(name))).toMatchObject({ ok: true, value: known });
    expect(await gateway.payouts.request(demo, single(name, 11))).toMatchObject({
      refusal: { code: 'duplicate' },
    });
  }
  expect(await gateway.batches.request(demo, batch('batch', items))).toMatchObject({ ok: true });
  const other = batch('batch', [...items, ['of-batch-3', 1]]);
  expect(await gateway.batches.request(demo, other)).toMatchObject({ refusal: { code: 'duplicate' } });

  // Each hold is published again, and none of them leads to a submission.
  const withheld = { status: 'INITIALIZED', step: 'unknown', attempts: 1 };
  await expectStep(gateway, references['unsent'] ?? '', withheld);
  const next = await accept(gateway, 'next-after-all');
  await expectStep(gateway, next, { step: 'submitted' });
  for (const [name, step] of Object.entries(steps))
    await expectStep(gateway, references[name] ?? '', { step });
  // What the backup knows may have been sent as well.
  await expectStep(gateway, before, { ...withheld, earlierUnclear: true });
  expect(gateway.asked).toEqual([next]);

  const observe = (status: 'notFound' | 'completed', ...observed: readonly (string | undefined)[]) =>
    gateway.messaging.inTransaction((transaction) =>
      gateway.payouts.apply(
        observed.map((reference = '') => ({
          reference,
          causationId: 'ev-poll',
          command: {
            kind: 'observe',
            resubmitGraceMs: 0,
            fact: { status, railFee: 0n, reason: status, polledAtMs: systemClock.nowMs() },
          },
        })),
        transaction,
      ),
    );
  await observe('notFound', references['unsent'], references['unclear'], references['taken'], before);
  // A payout that the rail does not know ends; one that it had accepted is left to people.
  for (const name of ['unsent', 'unclear'])
    expect(await gateway.payouts.find('demo', name)).toMatchObject({
      status: 'FAILED',
      statusReason: 'Failed',
    });
  expect(await gateway.payouts.find('demo', 'taken')).toMatchObject({
    status: 'INITIALIZED',
    step: 'submitted',
  });
  // Its recipient is known, so it is sent.
  await expectStep(gateway, before, { step: 'submitted' });
  await observe('completed', references['taken']);
  expect(await gateway.payouts.find('demo', 'taken')).toMatchObject({ status: 'COMPLETED' });
}, 120_000);
