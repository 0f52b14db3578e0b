import type { Pausable } from '@pesewa/payments';
import {
  createTopicReader,
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
  topicNameOf,
} from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batch, merchantWith, openReplica, single } from './acceptance.fixture.ts';
import type { RequestDeps } from './payouts.ts';

type Replica = Awaited<ReturnType<typeof openReplica>>;

let config: TestConfig;
let left: Replica;
let right: Replica;
const scopes: TestScope[] = [];
const demo = merchantWith('demo');

const open = (overrides: Partial<RequestDeps> = {}) => {
  const scope = openTestScope(config);
  scopes.push(scope);
  return openReplica(scope, overrides);
};
const either = (index: number): Replica => (index % 2 === 0 ? left : right);
const fifty = Array.from({ length: 50 }, (_, index) => index);
const codeOf = (outcome: { ok: true } | { ok: false; refusal: { code: string; message: string } }) =>
  outcome.ok ? 'accepted' : outcome.refusal.code;
const stored = (filter: object) => left.db.collection('payouts').countDocuments(filter);

/** The accepted events of a merchant's references, once the outbox is empty. */
async function acceptedEvents(matches: (merchantReference: string) => boolean) {
  await eventually(async () => expect(await left.db.collection('outbox').countDocuments()).toBe(0));
  const readTopic = await createTopicReader(config);
  const messages = await readTopic(topicNameOf(config, 'payouts'));
  return messages.filter(({ payload }) => matches(String(payload['merchantReference'])));
}

beforeAll(async () => {
  config = await prepareTestEnvironment();
  left = await open();
  right = await open();
});

afterAll(async () => {
  await left.db.dropDatabase();
  for (const scope of scopes.reverse()) await scope[Symbol.asyncDispose]();
});

describe('a reference is accepted once, whatever races (invariant P5)', () => {
  test('fifty identical submissions over two replicas leave one record and one event', async () => {
    const outcomes = await Promise.all(
      fifty.map((index) => either(index).payouts.request(demo, single('same'))),
    );
    const references = new Set(outcomes.map((outcome) => (outcome.ok ? outcome.value.reference : 'refused')));
    expect(references.size).toBe(1);
    expect([...references][0]).toMatch(/^po-/);
    expect(await stored({ 'order.merchantReference': 'same' })).toBe(1);
    expect(await acceptedEvents((reference) => reference === 'same')).toHaveLength(1);
  });

  test('of a merchant or a rail that is paused no new payout is accepted, and duplicates are answered (ADR 77)', async () => {
    await left.payouts.request(demo, single('unpaused'));
    for (const isPaused of [
      ({ merchantId }: Pausable) => merchantId === demo.id,
      ({ rail }: Pausable) => rail === 'upstream',
    ]) {
      const paused = await open({ isPaused });
      expect(codeOf(await paused.payouts.request(demo, single('unpaused')))).toBe('accepted');
      expect(codeOf(await paused.payouts.request(demo, single('paused')))).toBe('unavailable');
      expect(codeOf(await paused.batches.request(demo, batch('paused-batch', [['paused-item', 5]])))).toBe(
        'unavailable',
      );
    }
    expect(await stored({ 'order.merchantReference': { $in: ['paused', 'paused-item'] } })).toBe(0);
  });

  test('while too much waits for Kafka no new payout is accepted, and duplicates are answered', async () => {
    const { groupCommit } = left.messaging;
    const full = await open({ messaging: { groupCommit, acceptsWork: () => false } });
    await left.payouts.request(demo, single('before'));
    await left.batches.request(demo, batch('batch-before', [['before-item', 5]]));
    expect(codeOf(await full.payouts.request(demo, single('before')))).toBe('accepted');
    expect(codeOf(await full.payouts.request(demo, single('before', 11)))).toBe('duplicate');
    expect(codeOf(await full.payouts.request(demo, single('meanwhile')))).toBe('unavailable');
    expect(codeOf(await full.batches.request(demo, batch('batch-before', [['before-item', 5]])))).toBe(
      'accepted',
    );
    expect(codeOf(await full.batches.request(demo, batch('batch-meanwhile', [['item', 5]])))).toBe(
      'unavailable',
    );
    expect(await stored({ 'order.merchantReference': { $in: ['meanwhile', 'item'] } })).toBe(0);
  });

  test('one reference with fifty contents is accepted with exactly one', async () => {
    const outcomes = await Promise.all(
      fifty.map((index) => either(index).payouts.request(demo, single('contents', index + 1))),
    );
    const codes = outcomes.map(codeOf);
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(1);
    expect(codes.filter((code) => code === 'duplicate')).toHaveLength(49);
    expect(await stored({ 'order.merchantReference': 'contents' })).toBe(1);
  });

  test('a single payout and an item of a batch race for one reference: exactly one wins', async () => {
    for (const round of fifty.slice(0, 10)) {
      const contested = `race-${round}`;
      const [one, many] = await Promise.all([
        either(round).payouts.request(demo, single(contested, 7)),
        either(round + 1).batches.request(
          demo,
          batch(`race-batch-${round}`, [
            [`race-other-${round}`, 5],
            [contested, 8],
          ]),
        ),
      ]);
      expect([codeOf(one), codeOf(many)].sort()).toEqual(['accepted', 'duplicate']);
      expect(await stored({ 'order.merchantReference': contested })).toBe(1);
      expect(await stored({ 'order.merchantReference': `race-other-${round}` })).toBe(many.ok ? 1 : 0);
    }
  });

  test('the same payout again is accepted and the same, even where it would be refused now', async () => {
    const first = await left.payouts.request(demo, single('again'));
    const poor = await open({ canSpend: async () => false });
    const lost = await open({ routePayout: async () => ({ kind: 'noRoute' }) });
    const limited = merchantWith('demo', { perPayoutMaxMinor: { GHS: 1n }, perDayMaxMinor: { GHS: 1n } });
    const expected = { ok: true, value: { reference: first.ok ? first.value.reference : '' } };
    expect(await poor.payouts.request(demo, single('again'))).toMatchObject(expected);
    expect(await lost.payouts.request(demo, single('again'))).toMatchObject(expected);
    expect(await left.payouts.request(limited, single('again'))).toMatchObject(expected);
    expect(codeOf(await lost.payouts.request(demo, single('again', 11)))).toBe('duplicate');
  });
});

describe('a batch is all or nothing (invariant P7)', () => {
  const items = [
    ['item-1', 1.5],
    ['item-2', 2.25],
  ] as const;

  test('its items are payouts of their own, its own reference is none', async () => {
    expect(await left.batches.request(demo, batch('batch', items))).toEqual({ ok: true, value: null });
    const found = await right.payouts.find('demo', 'item-2');
    const batchReference = found?.batchReference ?? '';
    expect(found).toMatchObject({ order: { amount: { minor: 225n } }, fee: 2n, status: 'INITIALIZED' });
    expect(await right.payouts.find('demo', 'batch')).toBeUndefined();
    expect(await right.payouts.find('demo', batchReference)).toBeUndefined();
    const events = await acceptedEvents((reference) => reference.startsWith('item-'));
    expect(events.map(({ payload }) => payload['batchReference'])).toEqual([batchReference, batchReference]);
    expect(await stored({ kind: 'batch', _id: 'demo:batch', reference: batchReference })).toBe(1);
  });

  test('the same batch again is accepted and leaves nothing new; another content is refused', async () => {
    const outcomes = await Promise.all(
      fifty.slice(0, 6).map((index) => either(index).batches.request(demo, batch('batch', items))),
    );
    expect(outcomes.map(codeOf)).toEqual(Array(6).fill('accepted'));
    const other = await left.batches.request(demo, batch('batch', [['item-9', 1]]));
    expect(other).toMatchObject({ refusal: { code: 'duplicate' } });
    expect(await stored({ kind: 'batch', _id: 'demo:batch' })).toBe(1);
    expect(await stored({ 'order.merchantReference': { $in: ['item-1', 'item-2'] } })).toBe(2);
    expect(await stored({ 'order.merchantReference': 'item-9' })).toBe(0);
  });

  test('a used reference refuses the whole, names the index and leaves nothing', async () => {
    const used = [
      ['free-1', 1],
      ['item-2', 2.25],
    ] as const;
    expect(await left.batches.request(demo, batch('late', used))).toMatchObject({
      refusal: {
        code: 'duplicate',
        message: 'beneficiaries.1.transactionReference was used before: use a new reference for a new payout',
      },
    });
    const ofBatch = await left.batches.request(demo, batch('later', [['batch', 1]]));
    expect(codeOf(ofBatch)).toBe('duplicate');
    expect(await stored({ _id: { $in: ['demo:late', 'demo:free-1', 'demo:later'] as never[] } })).toBe(0);
    expect(await left.batches.request(demo, batch('late', [['free-1', 1]]))).toMatchObject({ ok: true });
  });

  test("a batch's reference is used for single payouts, too", async () => {
    expect(codeOf(await left.payouts.request(demo, single('batch')))).toBe('duplicate');
    expect(codeOf(await left.batches.request(demo, batch('same', [['fresh', 1]])))).toBe('duplicate');
  });

  test('the first item without a route is named, and the sum must be there', async () => {
    const asked: bigint[] = [];
    const poor = await open({
      canSpend: async (_wallet, minor) => {
        asked.push(minor);
        return false;
      },
    });
    const lost = await open({ routePayout: async () => ({ kind: 'noProcessor', why: 'blocked' }) });
    const fresh = batch('unlucky', [
      ['unlucky-1', 1],
      ['unlucky-2', 2],
    ]);
    expect(await lost.batches.request(demo, fresh)).toMatchObject({
      refusal: {
        code: 'noRoute',
        message:
          'beneficiaries.0.bankCode names a processor that is blocked: GET /api/v1/banks?country=GHA lists those that there are',
      },
    });
    expect(codeOf(await poor.batches.request(demo, fresh))).toBe('insufficientFunds');
    expect(asked).toEqual([303n]);
    expect(codeOf(await poor.batches.request(demo, batch('batch', items)))).toBe('accepted');
  });
});

describe('the limit per day counts what is accepted, exactly', () => {
  const limited = merchantWith('limited', { perDayMaxMinor: { GHS: 10_000n } });

  test('of fifty at once over two replicas as many are accepted as fit', async () => {
    const outcomes = await Promise.all(
      fifty.map((index) => either(index).payouts.request(limited, single(`day-${index}`, 6))),
    );
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(16);
    expect(new Set(outcomes.map(codeOf))).toEqual(new Set(['accepted', 'overLimit']));
    expect(await stored({ merchantId: 'limited' })).toBe(16);
    const [day] = await left.db.collection('usage').find().toArray();
    expect(day).toMatchObject({ used: 9_600n });
  });

  test('a refused one names the limit and leaves nothing: a smaller one still fits, a duplicate is none', async () => {
    const refused = await left.payouts.request(limited, single('day-late', 5));
    expect(refused).toMatchObject({
      refusal: { code: 'overLimit', message: 'this would exceed your limit per day (UTC) of 100.00 GHS' },
    });
    // Right after a refusal it may be told to come again, if the clocks can't tell that it came later.
    await eventually(async () =>
      expect(codeOf(await left.payouts.request(limited, single('day-late', 4)))).toBe('accepted'),
    );
    expect(codeOf(await left.payouts.request(limited, single('day-late', 4)))).toBe('accepted');
    expect(codeOf(await left.payouts.request(limited, single('day-none', 0.01)))).toBe('overLimit');
  });

  test('a batch counts its sum, or nothing', async () => {
    const other = merchantWith('limited-too', { perDayMaxMinor: { GHS: 1_000n } });
    const over = batch('over', [
      ['over-1', 6],
      ['over-2', 4.01],
    ]);
    const fits = batch('fits', [
      ['fits-1', 6],
      ['fits-2', 4],
    ]);
    expect(codeOf(await left.batches.request(other, over))).toBe('overLimit');
    expect(codeOf(await left.batches.request(other, fits))).toBe('accepted');
    expect(codeOf(await right.batches.request(other, fits))).toBe('accepted');
    expect(codeOf(await left.batches.request(other, over))).toBe('overLimit');
    expect(await stored({ merchantId: 'limited-too', kind: { $exists: false } })).toBe(2);
  });
});

test('ten thousand items are accepted in one go, with every event', async () => {
  const items = Array.from({ length: 10_000 }, (_, index) => [`mass-${index}`, 1.01] as const);
  const order = batch('mass', items);
  expect(await left.batches.request(demo, order)).toEqual({ ok: true, value: null });
  expect(await stored({ 'order.merchantReference': /^mass-/ })).toBe(10_000);
  expect(await acceptedEvents((reference) => reference.startsWith('mass-'))).toHaveLength(10_000);
}, 120_000);
