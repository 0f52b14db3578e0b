import { createIds, DAY_MS, systemClock } from '@pesewa/kernel';
import { startEraser } from '@pesewa/messaging';
import { eventually, openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { personalData } from './erasures.ts';
import { createTestRail, merchantWith, openReplica, payin, type Replica } from './fixtures/replica.ts';

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

  const found = await replica.collections.find('demo', 'ended');
  expect(found).toMatchObject({
    status: 'FAILED',
    failureReason: null,
    order: { amount: { currency: 'GMD' } },
  });
  expect(await replica.collections.accept(demo, payin('ended'))).toMatchObject({
    refusal: { reason: 'DUPLICATE REFERENCE' },
  });
});
