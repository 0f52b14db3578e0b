import { createIds, DAY_MS, systemClock } from '@pesewa/kernel';
import { startEraser } from '@pesewa/messaging';
import { eventually, openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { merchantWith, openReplica, single } from './acceptance.fixture.ts';
import { personalData } from './erasures.ts';
import { viewLookedUp } from './payout-operations.ts';

const resources = new AsyncDisposableStack();
const demo = merchantWith('demo');
let scope: ReturnType<typeof openTestScope>;
let replica: Awaited<ReturnType<typeof openReplica>>;

beforeAll(async () => {
  scope = resources.use(openTestScope(await prepareTestEnvironment()));
  // Accepted long ago, according to its reference.
  const then = { ...systemClock, nowMs: () => systemClock.nowMs() - 401 * DAY_MS };
  replica = await openReplica({ ...scope, ids: createIds(then, scope.random) });
});
afterAll(async () => {
  await replica.db.dropDatabase();
  await resources.disposeAsync();
});

const raw = async (merchantReference: string) =>
  JSON.stringify(
    await replica.db.collection('payouts').findOne({ 'order.merchantReference': merchantReference }),
    (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
  );

const accept = async (reference: string) => {
  const outcome = await replica.payouts.request(demo, single(reference));
  if (!outcome.ok) throw new Error(outcome.refusal.code);
  return outcome.value;
};

test('an old payout that was rebuilt and has ended keeps no words of its rail', async () => {
  const { reference } = await accept('rebuilt');
  const end = { status: 'REVERSED', step: 'ended', statusReason: 'Returned by Ama Mensah' } as const;
  const completion = { reason: 'Paid to Ama Mensah', causedBy: null };
  const order = { merchantReference: 'rebuilt', country: 'GH', channel: 'bank', sender: null };
  const rebuilt = { ...order, beneficiary: { bankCode: 'GH1' }, transactionType: undefined };
  await replica.store.collection.updateOne({ reference }, { $set: { ...end, completion, order: rebuilt } });
  await using _eraser = startEraser({ ...scope, ...replica.messaging }, personalData, 400);
  await eventually(async () => expect(await raw('rebuilt')).not.toContain('Ama'));
  expect(await replica.payouts.find('demo', 'rebuilt')).toMatchObject({ statusReason: 'Reversed' });
});

test('an old payout that has ended names no person, keeps its money and its reference, and is accepted once for ever', async () => {
  const [ended, open] = [await accept('ended'), await accept('open')];
  const end = { status: 'COMPLETED', step: 'ended', statusReason: 'Paid to Ama Mensah' } as const;
  await replica.store.collection.updateOne({ reference: ended.reference }, { $set: end });
  await using _eraser = startEraser({ ...scope, ...replica.messaging }, personalData, 400);
  await eventually(async () => expect(await raw('ended')).not.toMatch(/Ama|Kofi|0240000000|kofi@/));
  expect(await raw('open')).toContain('Ama Mensah');

  const found = await replica.payouts.find('demo', 'ended');
  expect(found).toMatchObject({ fee: ended.fee, status: 'COMPLETED', contentHash: ended.contentHash });
  const view = (payout: typeof ended | undefined) => payout && viewLookedUp(payout, () => null);
  expect(view(found)).toEqual({
    ...view(ended),
    transactionStatus: 'COMPLETED',
    statusReason: 'Successful',
  });
  // The same order again gives the same payout; a different one under its reference is refused.
  expect((await accept('ended')).reference).toBe(ended.reference);
  expect(await replica.payouts.request(demo, single('ended', 11))).toMatchObject({
    refusal: { code: 'duplicate' },
  });
  expect((await accept('open')).reference).toBe(open.reference);
  // Even a reversal this late still applies.
  const fact = { status: 'reversed', railFee: 0n, reason: 'Returned', polledAtMs: 0 } as const;
  const command = { kind: 'observe', fact, resubmitGraceMs: 0 } as const;
  const { reference } = ended;
  await replica.messaging.inTransaction((transaction) =>
    replica.payouts.apply([{ reference, command, causationId: 'ev-1' }], transaction),
  );
  expect(await replica.payouts.find('demo', 'ended')).toMatchObject({ status: 'REVERSED' });
  // What its rail says of it is told, and not kept.
  expect(await raw('ended')).not.toContain('Returned');
});
