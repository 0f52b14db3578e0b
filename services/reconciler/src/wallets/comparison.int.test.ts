import { openMessagingAs } from '@pesewa/messaging';
import { createLogger } from '@pesewa/runtime';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openComparison } from '../fixtures/comparison.ts';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, completed, floatFunded, ids, payoutFailed } from '../fixtures/owners.ts';
import { openScope } from '../fixtures/scope.ts';
import { openPaymentsAtRail } from './suspects.ts';

const harness = createHarness('cmp', process.env);
const { about, config, database, heard, holds, operator, polls, publish, rowOf } = harness;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const logger = createLogger({ name: 'test', level: 'silent' });
const closers = new AsyncDisposableStack();

beforeAll(harness.open);
afterAll(async () => {
  await closers.disposeAsync();
  await harness.close();
});

/** One more replica's comparison, with this balance at its rail. */
const replica = (minor: bigint, currency: string) =>
  openComparison(config, closers, {
    name: 'other',
    balances: async () => ({ kind: 'answered', wallets: [{ currency, minor }] }),
  });

describe('the comparison of wallets on real daemons', () => {
  it('opens one break, however many replicas find it at once', async () => {
    const replicas = await Promise.all(Array.from({ length: 4 }, () => replica(7n, 'ZAR')));
    const found = await Promise.all(replicas.flatMap(({ run }) => [run(), run()]));
    expect(found.flat().map(({ unexplained }) => unexplained)).toEqual(Array.from({ length: 8 }, () => 7n));
    expect(await database().collection('runs').countDocuments({ rail: 'other' })).toBe(4);
    expect((await operator('/breaks?reference=other:ZAR')).items).toMatchObject([
      { id: 'other:ZAR/balance', amount: '0.07', status: 'open' },
    ]);
    await until('the runs', () => heard.filter(({ payload }) => payload['rail'] === 'other').length >= 4);
    await until('the event', () => about('other:ZAR', 'BreakOpened').length > 0);
    expect(about('other:ZAR', 'BreakOpened')).toHaveLength(1);
    await (await replica(0n, 'ZAR')).run();
    expect((await operator('/breaks?reference=other:ZAR')).items).toMatchObject([
      {
        status: 'resolved',
        resolution: "the wallet is explained again: the rail's balance moved by -0.07 ZAR",
      },
    ]);
  });

  it('has applied what was published before it judges', async () => {
    const comparison = await replica(1_000n, 'EGP');
    await publish(floatFunded('other', 'EGP', 1_000n));
    const found = await comparison.run();
    const egp = found.filter(({ currency }) => currency === 'EGP');
    expect(egp).toMatchObject([{ float: 1_000n, drift: 0n }]);
    expect(about('other:EGP', 'BreakOpened')).toEqual([]);
  });

  it('knows that an event is not applied yet', async () => {
    const { scope, close } = openScope(config, logger);
    closers.defer(close);
    const options = { service: 'reconciler', database: 'newcomer', produces: [] } as const;
    const messaging = await openMessagingAs(scope, options);
    closers.defer(async () => void (await messaging.db.dropDatabase()));
    expect(await messaging.caughtUp(['ledger'], 300)).toBe(false);
    expect(await messaging.caughtUp(['webhooks'], 5_000)).toBe(true);
  });

  it('reads the payments that may explain what nothing else does', async () => {
    const [wrong, right] = [ids.next('po'), ids.next('po')];
    await publish(accepted(wrong), payoutFailed(wrong), accepted(right), completed(right));
    await until('the ends', async () => (await rowOf(right))?.status === 'completed');
    await until('the end', async () => (await rowOf(wrong))?.status === 'failed');
    const payments = openPaymentsAtRail(database());
    const ended = await payments.ended('upstream', 'KES', new Date(0));
    expect(ended.map(({ reference }) => reference)).toEqual(expect.arrayContaining([wrong, right]));
    expect(await payments.ended('upstream', 'KES', new Date(8.64e15))).toEqual([]);
  });

  it('sums what is in flight by keys alone', async () => {
    const payments = openPaymentsAtRail(database());
    const terms = {
      kind: 'payout',
      rail: 'crowded',
      merchantId: 'm',
      currency: 'GHS',
      country: 'GHA',
    } as const;
    const count = 3_000;
    const documents = Array.from({ length: count }, (_, index) => ({
      _id: `po-crowded-${index}`,
      terms: { ...terms, amount: BigInt(index), railFee: 1n },
      inFlight: true as const,
      mayDebit: BigInt(index + 1),
      mayCredit: 0n,
    }));
    const crowd = database().collection<(typeof documents)[number]>('polls');
    await crowd.insertMany(documents);
    await database().command({ profile: 2 });
    try {
      const sum = (await payments.inFlight('crowded')).get('GHS');
      expect(sum).toEqual({ mayDebit: BigInt((count * (count + 1)) / 2), mayCredit: 0n });
    } finally {
      await database().command({ profile: 0 });
    }
    const namespace = `${database().databaseName}.polls`;
    const profile = database().collection<{ readonly keysExamined: number; readonly docsExamined: number }>(
      'system.profile',
    );
    const sums = await profile.find({ ns: namespace, 'command.aggregate': 'polls' }).toArray();
    expect(sums.map(({ docsExamined }) => docsExamined)).toEqual([0]);
    await polls().deleteMany({ 'terms.rail': 'crowded' });
  });

  it('lists what is in flight where that is little', async () => {
    const payments = openPaymentsAtRail(database());
    const terms = { kind: 'payout', rail: 'quiet', merchantId: 'm', currency: 'KES', country: 'KE' } as const;
    const few = [0, 1, 2].map((index) => ({
      _id: `po-quiet-${index}`,
      terms: { ...terms, amount: 100n, railFee: 0n },
      status: 'open' as const,
      openState: 'begun' as const,
      openedAt: new Date(index),
      inFlight: true as const,
      mayDebit: 100n,
      mayCredit: 0n,
    }));
    await database().collection<(typeof few)[number]>('polls').insertMany(few);
    const listed = few.map(({ _id: reference }) => ({ reference, mayDebit: 100n, mayCredit: 0n }));
    expect((await payments.inFlight('quiet')).get('KES')).toEqual({
      mayDebit: 300n,
      mayCredit: 0n,
      payments: expect.arrayContaining(listed) as unknown,
    });
    await polls().deleteMany({ 'terms.rail': 'quiet' });
  });

  it('compares a currency without funding, both ways', async () => {
    holds(5n);
    await operator('/compare', { method: 'POST' });
    expect((await operator('/breaks?reference=upstream:GHS')).items).toMatchObject([
      { status: 'open', amount: '0.05' },
    ]);
    holds(0n);
    await operator('/compare', { method: 'POST' });
    expect((await operator('/breaks?reference=upstream:GHS')).items).toMatchObject([{ status: 'resolved' }]);
    const latest = (await operator('/drift')).items.filter(({ rail }) => rail === 'upstream');
    expect(latest).toMatchObject([{ currency: 'GHS', drift: '0', withinRange: true }]);
  });
});
