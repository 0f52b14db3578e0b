import {
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
} from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batch, merchantWith, openReplica, single } from './acceptance.fixture.ts';
import type { RequestDeps } from './payouts.ts';

type Replica = Awaited<ReturnType<typeof openReplica>>;

let config: TestConfig;
let rich: Replica;
let poor: Replica;
/** Judges funds when it is told to, and then finds enough. */
let slow: Replica & { readonly judge: () => void };
const scopes: TestScope[] = [];
const demo = merchantWith('demo');

const open = (overrides: Partial<RequestDeps> = {}) => {
  const scope = openTestScope(config);
  scopes.push(scope);
  return openReplica(scope, overrides);
};
const codeOf = (outcome: { ok: true } | { ok: false; refusal: { code: string } }) =>
  outcome.ok ? 'accepted' : outcome.refusal.code;
const stored = (reference: string) =>
  rich.db.collection('payouts').countDocuments({ 'order.merchantReference': reference });

async function openSlow() {
  let waiting: (() => void)[] = [];
  const canSpend = () => new Promise<boolean>((resolve) => void waiting.push(() => resolve(true)));
  const judge = () => {
    for (const next of waiting) next();
    waiting = [];
  };
  return { ...(await open({ canSpend })), judge };
}

beforeAll(async () => {
  config = await prepareTestEnvironment();
  rich = await open();
  poor = await open({ canSpend: async () => false });
  slow = await openSlow();
});

afterAll(async () => {
  await rich.db.dropDatabase();
  for (const scope of scopes.reverse()) await scope[Symbol.asyncDispose]();
});

describe('a refusal is certain: what was refused is not accepted for an earlier request (invariant P16, ADR 87)', () => {
  test('of a single payout, by funds', async () => {
    const first = slow.payouts.request(demo, single('slow'));
    expect(codeOf(await poor.payouts.request(demo, single('slow')))).toBe('insufficientFunds');
    slow.judge();
    expect(codeOf(await first)).toBe('unavailable');
    expect(await stored('slow')).toBe(0);
    expect(codeOf(await rich.payouts.request(demo, single('slow', 9)))).toBe('accepted');
  });

  test('by a limit that is judged in the transaction', async () => {
    const limited = merchantWith('demo', { perDayMaxMinor: { GHS: 1n } });
    const first = slow.payouts.request(demo, single('over'));
    const outcomes = await Promise.all([1, 2].map(() => rich.payouts.request(limited, single('over'))));
    expect(outcomes.map(codeOf)).toEqual(['overLimit', 'overLimit']);
    slow.judge();
    expect(codeOf(await first)).toBe('unavailable');
    expect(await stored('over')).toBe(0);
  });

  test('of a batch, and of an item that is also sent singly', async () => {
    const limited = merchantWith('demo', { perDayMaxMinor: { GHS: 1n } });
    const many = batch('slow-batch', [
      ['slow-one', 5],
      ['slow-two', 5],
    ]);
    for (const refuse of [
      () => poor.batches.request(demo, many),
      () => rich.batches.request(limited, many),
      () => poor.payouts.request(demo, single('slow-two')),
    ]) {
      const first = slow.batches.request(demo, many);
      expect(codeOf(await refuse())).toMatch(/insufficientFunds|overLimit/);
      slow.judge();
      expect(codeOf(await first)).toBe('unavailable');
    }
    expect([await stored('slow-one'), await stored('slow-two')]).toEqual([0, 0]);
    expect(codeOf(await rich.batches.request(demo, many))).toBe('accepted');
  });
});

test('where an earlier request commits after its repetition has looked for it, the repetition gets the payout (ADR 87)', async () => {
  const session = rich.db.client.startSession();
  for (const [reference, submit] of [
    ['committing', (replica: Replica) => replica.payouts.request(demo, single('committing'))],
    [
      'committing-batch',
      (replica: Replica) => replica.batches.request(demo, batch('committing-batch', [['its-item', 5]])),
    ],
  ] as const) {
    const late = await open({ canSpend: async () => false });
    // A payout that is inserted and not committed yet.
    await submit(rich);
    const payouts = rich.db.collection<{ readonly _id: string }>('payouts');
    const ids = { _id: { $in: [`demo:${reference}`, 'demo:its-item'] } };
    const documents = await payouts.find(ids).toArray();
    await payouts.deleteMany(ids);
    session.startTransaction();
    await payouts.insertMany(documents, { session });
    const { findUses } = late.store;
    Object.assign(late.store, {
      findUses: async (...args: Parameters<typeof findUses>) => {
        const found = await findUses(...args);
        if (session.inTransaction()) await session.commitTransaction();
        return found;
      },
    });
    expect(codeOf(await submit(late))).toBe('accepted');
  }
  await session.endSession();
});

test('while an earlier request is being committed, its repetition waits for the outcome', async () => {
  const payouts = rich.db.collection<{ readonly _id: string }>('payouts');
  const session = rich.db.client.startSession();
  session.startTransaction();
  await payouts.insertOne({ _id: 'demo:open' }, { session });
  const late = await open({ canSpend: async () => false });
  const { refused } = late.store;
  let marks = 0;
  const mark: typeof refused.mark = (...args) => {
    marks += 1;
    return refused.mark(...args);
  };
  Object.assign(late.store, { refused: { ...refused, mark } });
  const repeated = late.payouts.request(demo, single('open'));
  await eventually(() => expect(marks).toBeGreaterThan(2));
  await session.abortTransaction();
  await session.endSession();
  expect(codeOf(await repeated)).toBe('insufficientFunds');
});

test('a refused reference is not found, and no payment is in the index that forgets refusals', async () => {
  await poor.payouts.request(demo, single('refused'));
  expect(await rich.payouts.find('demo', 'refused')).toBeUndefined();
  await rich.payouts.request(demo, single('stored'));
  expect((await rich.payouts.find('demo', 'stored'))?.order.merchantReference).toBe('stored');
  const marks = await rich.db
    .collection('payouts')
    .find({ refusedAt: { $exists: true } })
    .toArray();
  expect(marks.map(({ _id }) => String(_id))).toContain('demo:refused');
  expect(marks.every((mark) => Object.keys(mark).toSorted().join() === '_id,kind,refusedAt')).toBe(true);
});

test('a request that was frozen for a minute is accepted no more', async () => {
  let nowMs = Date.now();
  const clock = { nowMs: () => nowMs, sleep: async () => undefined };
  const frozen = await open({
    clock,
    canSpend: async () => {
      nowMs += 60_000;
      return true;
    },
  });
  expect(codeOf(await frozen.payouts.request(demo, single('frozen')))).toBe('unavailable');
  expect(codeOf(await frozen.batches.request(demo, batch('frozen-batch', [['frozen-item', 5]])))).toBe(
    'unavailable',
  );
  expect([await stored('frozen'), await stored('frozen-item')]).toEqual([0, 0]);
});
