import { createIds, DAY_MS, systemClock } from '@pesewa/kernel';
import { startEraser } from '@pesewa/messaging';
import { eventually, openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { batch, merchantWith, openReplica, single, whole } from './acceptance.fixture.ts';
import { erasuresOf, personalData } from './erasures.ts';
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

test('an old payout that has ended names no person, keeps its money and its reference, and is accepted once for ever', async () => {
  const accept = async (reference: string) => {
    const outcome = await replica.payouts.request(demo, single(reference));
    if (!outcome.ok) throw new Error(outcome.refusal.code);
    return outcome.value;
  };
  const [ended, open] = [await accept('ended'), await accept('open')];
  const end = { status: 'COMPLETED', step: 'ended', statusReason: 'Paid to Ama Mensah' } as const;
  await replica.store.collection.updateOne({ reference: ended.reference }, { $set: end });
  await using _eraser = startEraser({ ...scope, ...replica.messaging }, personalData, 400);
  await eventually(async () => expect(await raw('ended')).not.toMatch(/Ama|Kofi|0240000000|kofi@/));
  expect(await raw('open')).toContain('Ama Mensah');

  const found = whole(await replica.payouts.find('demo', 'ended'));
  expect(found).toMatchObject({ fee: ended.fee, status: 'COMPLETED', contentHash: ended.contentHash });
  const view = (payout: typeof ended) => viewLookedUp(payout, () => null);
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
});

const later = (days: number) => ({ ...systemClock, nowMs: () => systemClock.nowMs() + days * DAY_MS });

/** The replica that erases and archives, on a day so much later. */
function archiving(days: number) {
  const deps = { ...scope, ...replica.messaging, clock: later(days) };
  const stages = new AsyncDisposableStack();
  const erasures = erasuresOf({ PERSONAL_DATA_KEEP_DAYS: 400, PAYMENT_KEEP_DAYS: 1_000 });
  const loops = erasures.map(([erasure, keepDays]) => stages.use(startEraser(deps, erasure, keepDays)));
  const wake = () => {
    for (const loop of loops) loop.wake();
  };
  return { wake, [Symbol.asyncDispose]: () => stages.disposeAsync() };
}

test('an older one that has ended for long is archived: its reference stays taken, and nothing is said of it but its end', async () => {
  const { db, payouts, store } = replica;
  const references: Record<string, string> = {};
  for (const name of ['paid', 'waiting', 'late', 'back']) {
    const outcome = await payouts.request(demo, single(name));
    references[name] = outcome.ok ? outcome.value.reference : '';
  }
  await replica.batches.request(demo, batch('batch', [['item', 1]]));
  const end = (atMs: number) => ({
    status: 'COMPLETED' as const,
    step: 'ended' as const,
    timeline: [{ what: 'completed', at: new Date(atMs) }],
  });
  const endOf = (name: string, atMs: number) =>
    store.collection.updateOne({ _id: `demo:${name}` }, { $set: end(atMs) });
  await endOf('paid', systemClock.nowMs());
  await endOf('late', later(300).nowMs());
  // A payout rebuilt from events has no personal data from the start; it is open.
  const back = { 'order.sender': null, step: 'unknown' as const };
  await store.collection.updateOne({ _id: 'demo:back' }, { $set: back });
  const stored = (name: string) => db.collection('payouts').findOne({ _id: `demo:${name}` as never });
  {
    await using archive = archiving(600);
    await eventually(async () => {
      archive.wake();
      expect(await stored('paid')).toEqual({ _id: 'demo:paid', end: 'C' });
      expect(await stored('batch')).toEqual({ _id: 'demo:batch' });
      expect(await stored('late')).toMatchObject({ order: { sender: null } });
    });
  }
  expect(await stored('waiting')).toMatchObject({ order: { sender: { name: 'Kofi Shop' } } });
  expect(await stored('back')).toMatchObject({ status: 'INITIALIZED' });
  expect(await payouts.find('demo', 'paid')).toEqual({ archived: 'COMPLETED' });
  expect(await payouts.find('demo', references['paid'] ?? '')).toEqual({ archived: null });
  expect(await payouts.find('demo', 'batch')).toBeUndefined();
  expect(await payouts.find('demo', scope.ids.next('po'))).toBeUndefined();

  const refused = { ok: false, refusal: { code: 'duplicate' } };
  expect(await payouts.request(demo, single('paid'))).toMatchObject(refused);
  expect(await payouts.request(demo, single('batch'))).toMatchObject(refused);
  for (const again of [batch('batch', [['other', 1]]), batch('another', [['paid', 1]])])
    expect(await replica.batches.request(demo, again)).toMatchObject(refused);
  // Whatever a rail says of it so late moves nothing.
  const fact = { status: 'reversed', railFee: 0n, reason: 'Returned', polledAtMs: 0 } as const;
  const command = { kind: 'observe', fact, resubmitGraceMs: 0 } as const;
  const reference = references['paid'] ?? '';
  await replica.messaging.inTransaction((transaction) =>
    payouts.apply([{ reference, command, causationId: 'ev-1' }], transaction),
  );
  expect(await stored('paid')).toEqual({ _id: 'demo:paid', end: 'C' });

  await endOf('waiting', systemClock.nowMs());
  await using archive = archiving(800);
  await eventually(async () => {
    archive.wake();
    for (const name of ['late', 'waiting'])
      expect(await stored(name)).toEqual({ _id: `demo:${name}`, end: 'C' });
  });
});
