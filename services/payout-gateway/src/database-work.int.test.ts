import { systemClock } from '@pesewa/kernel';
import { eventually, openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batch, merchantWith, single } from './acceptance.fixture.ts';
import { openGateway, openLedger } from './restored.fixture.ts';

const demo = merchantWith('demo');
const closers = new AsyncDisposableStack();
let gateway: Awaited<ReturnType<typeof openGateway>>;
/** Runs between a call to the rail and its answer. */
let beforeAnswer: (reference: string) => Promise<void> = async () => undefined;
let answersRecorded = 0;
/** The loops search when they start, and then no more. */
const onlyAtBirth = { pauseMs: 600_000 };

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  await openLedger(closers.use(openTestScope(config)));
  const answer = async (reference: string) => {
    await beforeAnswer(reference);
    return { kind: 'acknowledged' } as const;
  };
  const crashPoint = (point: string) => {
    if (point === 'payouts.outcome.after-commit') answersRecorded += 1;
  };
  gateway = closers.use(await openGateway(openTestScope(config, { crashPoint }), answer, onlyAtBirth));
  await mayBeSent();
});

afterAll(() => closers.disposeAsync());

/** Waits until payouts may be sent. */
const mayBeSent = () =>
  eventually(async () =>
    expect((await gateway.scope.health.readiness()).details).not.toHaveProperty('submission'),
  );

/** Waits until so many payouts have these fields. */
const expectAll = (count: number, fields: object) =>
  eventually(async () => expect(await gateway.store.collection.countDocuments(fields)).toBe(count), 20_000);

/** Takes payouts to their ends by the rail's word. */
const complete = (references: readonly string[]) =>
  gateway.messaging.inTransaction(async (transaction) => {
    const polledAtMs = systemClock.nowMs();
    const fact = { status: 'completed', railFee: 1n, reason: 'Successful', polledAtMs } as const;
    const command = { kind: 'observe', resubmitGraceMs: 0, fact } as const;
    const commands = references.map((reference) => ({ reference, causationId: 'ev-poll', command }));
    await gateway.payouts.apply(commands, transaction);
  });

/** Runs the work; gives how many payouts it has read from the database, inserted and changed. */
async function workOf(run: () => Promise<void>) {
  const { db } = gateway;
  await db.command({ profile: 2 });
  await run();
  await db.command({ profile: 0 });
  const profile = db.collection<Document>('system.profile');
  const entries = await profile.find({ ns: `${db.databaseName}.payouts` }).toArray();
  await profile.drop();
  // Only the tests count and list.
  const own = entries.filter(({ command }) => !('aggregate' in command) && !('comment' in command));
  const sum = (field: string) => own.reduce((total, entry) => total + Number(entry[field] ?? 0), 0);
  return { read: sum('nreturned'), inserted: sum('ninserted'), changed: sum('nModified') };
}

/** Takes the payouts that are accepted meanwhile from their holds to their captures. */
async function live(count: number, fields: object): Promise<void> {
  await expectAll(count, { ...fields, step: 'submitted' });
  const found = await gateway.store.collection.find(fields).comment('of the test').toArray();
  await complete(found.map(({ reference }) => reference));
  await eventually(async () => {
    const ends = (await gateway.messaging.ends(['ledger'], 5_000)) ?? [];
    expect(await gateway.messaging.hasApplied('payout-gateway', ends, 5_000)).toBe(true);
  }, 20_000);
}

describe('a payout that goes straight is inserted, changed three times and read twice', () => {
  it('alone', async () => {
    const work = await workOf(async () => {
      expect(await gateway.payouts.request(demo, single('one'))).toMatchObject({ ok: true });
      await live(1, { _id: 'demo:one' });
    });
    expect(work).toEqual({ read: 2, inserted: 1, changed: 3 });
  });

  it('in a batch', async () => {
    const items = Array.from({ length: 16 }, (_, index) => [`item-${index}`, 1] as const);
    const work = await workOf(async () => {
      expect(await gateway.batches.request(demo, batch('many', items))).toMatchObject({ ok: true });
      await live(16, { batchReference: { $exists: true } });
    });
    // The batch's own reference is reserved among them.
    expect(work).toEqual({ read: 32, inserted: 17, changed: 48 });
  });
});

it('payouts of a hold for which there is no room are sent when there is, without waiting for a search', async () => {
  const items = Array.from({ length: 40 }, (_, index) => [`more-${index}`, 1] as const);
  expect(await gateway.batches.request(demo, batch('more', items))).toMatchObject({ ok: true });
  await expectAll(40, { 'order.merchantReference': /^more-/, step: 'submitted' });
});

it('an answer that comes after the end is recorded by reading the payout, and changes nothing', async () => {
  const before = answersRecorded;
  beforeAnswer = (reference) => complete([reference]);
  expect(await gateway.payouts.request(demo, single('early'))).toMatchObject({ ok: true });
  await eventually(() => expect(answersRecorded).toBe(before + 1), 20_000);
  expect(await gateway.payouts.find('demo', 'early')).toMatchObject({
    status: 'COMPLETED',
    version: 4n,
    timeline: [{ what: 'held' }, { what: 'completed' }],
  });
});
