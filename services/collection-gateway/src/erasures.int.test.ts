import { ERASURES } from '@pesewa/contracts';
import { createIds, DAY_MS, systemClock } from '@pesewa/kernel';
import { startEraser } from '@pesewa/messaging';
import { archiveOf } from '@pesewa/payments';
import { eventually, openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { erasuresOf, personalData } from './erasures.ts';
import { createTestRail, merchantWith, openReplica, payin, type Replica, whole } from './fixtures/replica.ts';

const resources = new AsyncDisposableStack();
const demo = merchantWith('demo');
let scope: ReturnType<typeof openTestScope>;
let replica: Replica;

beforeAll(async () => {
  scope = resources.use(openTestScope(await prepareTestEnvironment()));
  // Accepted long ago, according to its reference.
  const then = { ...systemClock, nowMs: () => systemClock.nowMs() - 401 * DAY_MS };
  replica = await openReplica({ ...scope, ids: createIds(then, scope.random) }, { rail: createTestRail() });
});
afterAll(async () => {
  await replica.db.dropDatabase();
  await resources.disposeAsync();
});

const order = async (merchantReference: string) => {
  const found = await replica.store.collection.findOne({ 'order.merchantReference': merchantReference });
  if (!found) throw new Error('there is no such collection');
  return found.order;
};

test('an old collection that has ended names no person, keeps its money, and its reference stays taken', async () => {
  await replica.collections.accept(demo, payin('ended'));
  await replica.collections.accept(demo, payin('open'));
  const before = await order('ended');
  expect(before.customerNumber).not.toBe('');
  const end = { status: 'FAILED', step: 'ended', failureReason: 'Ama has not enough' } as const;
  const stored = replica.store.collection;
  await stored.updateOne({ 'order.merchantReference': 'ended' }, { $set: end });
  await using _eraser = startEraser({ ...scope, db: replica.db, owner: 'one' }, personalData, 400);
  await eventually(async () => expect((await order('ended')).customerNumber).toBe(''));
  for (const name of ['customerName', 'customerEmail', 'description', 'successUrl', 'errorUrl', 'cancelUrl'])
    expect(await order('ended')).not.toHaveProperty(name);
  expect(await stored.findOne({ 'order.merchantReference': 'ended' })).not.toHaveProperty('failureReason');
  expect((await order('open')).customerNumber).toBe(before.customerNumber);

  const found = whole(await replica.collections.find('demo', 'ended'));
  expect(found).toMatchObject({
    status: 'FAILED',
    failureReason: null,
    order: { amount: { currency: 'GMD' } },
  });
  expect(await replica.collections.accept(demo, payin('ended'))).toMatchObject({
    refusal: { reason: 'DUPLICATE REFERENCE' },
  });
});

test('an older one that has ended is archived: its reference stays taken, and its end is still reported', async () => {
  const ends = { paid: 'COMPLETED', unpaid: 'FAILED' } as const;
  const stored = replica.store.collection;
  for (const [reference, status] of Object.entries(ends)) {
    await replica.collections.accept(demo, payin(reference));
    const end = { status, step: 'ended' as const, timeline: [{ what: 'ended', at: new Date() }] };
    await stored.updateOne({ 'order.merchantReference': reference }, { $set: end });
  }
  await replica.collections.accept(demo, payin('waiting'));
  const later = { ...systemClock, nowMs: () => systemClock.nowMs() + 600 * DAY_MS };
  const deps = { ...scope, db: replica.db, clock: later, owner: 'one' };
  const marks = replica.db.collection<Readonly<{ _id: string; open: readonly string[] }>>(ERASURES);
  {
    // Without the first stage it finds no erased payments, and leaves them all to its next round.
    await using _archive = startEraser(deps, archiveOf(personalData), 1_000);
    await eventually(async () =>
      expect((await marks.findOne({ _id: 'collections/archive' }))?.open).toHaveLength(4),
    );
    expect(await replica.collections.find('demo', 'paid')).toMatchObject({ status: 'COMPLETED' });
  }
  await using stages = new AsyncDisposableStack();
  const erasures = erasuresOf({ PERSONAL_DATA_KEEP_DAYS: 400, PAYMENT_KEEP_DAYS: 1_000 });
  const loops = erasures.map(([erasure, keepDays]) => stages.use(startEraser(deps, erasure, keepDays)));
  for (const [reference, archived] of Object.entries(ends)) {
    await eventually(async () => {
      for (const loop of loops) loop.wake();
      expect(await replica.collections.find('demo', reference)).toEqual({ archived });
    });
    expect(await stored.findOne({ _id: `demo:${reference}` })).toEqual({
      _id: `demo:${reference}`,
      end: archived[0],
    });
    expect(await replica.collections.accept(demo, payin(reference))).toEqual({
      ok: false,
      refusal: { reason: 'DUPLICATE REFERENCE', reference: '' },
    });
  }
  expect(await replica.collections.find('demo', 'waiting')).toMatchObject({ status: 'PENDING' });
});
