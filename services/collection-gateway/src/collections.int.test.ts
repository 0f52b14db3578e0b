import { systemClock } from '@pesewa/kernel';
import { CALL_WITHIN_MS } from '@pesewa/rails';
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
import { digestOfNumber } from './admission.ts';
import { numberLimit } from './domain/limits.ts';
import { createTestRail, merchantWith, openReplica, payin, type Replica } from './fixtures/replica.ts';

let config: TestConfig;
let left: Replica;
let right: Replica;
const scopes: TestScope[] = [];
const rail = createTestRail();
const demo = merchantWith('demo');
// The time is fixed, so that no hour ends during these tests.
const startMs = systemClock.nowMs();
const clock = { ...systemClock, nowMs: () => startMs };
const fifty = Array.from({ length: 50 }, (_, index) => index);

const open = (options: Partial<Parameters<typeof openReplica>[1]> = {}) => {
  const scope = openTestScope(config);
  scopes.push(scope);
  return openReplica(scope, { rail, clock, ...options });
};
const either = (index: number): Replica => (index % 2 === 0 ? left : right);
type Outcome = Awaited<ReturnType<Replica['collections']['accept']>>;
const outcomeOf = (outcome: Outcome) => (outcome.ok ? 'accepted' : outcome.refusal.reason);
const count = (outcomes: readonly Outcome[], outcome: string) =>
  outcomes.filter((each) => outcomeOf(each) === outcome).length;
const stored = (filter: object) => left.db.collection('collections').countDocuments(filter);

async function initiatedEvents(matches: (merchantReference: string) => boolean) {
  await eventually(async () => expect(await left.db.collection('outbox').countDocuments()).toBe(0));
  const readTopic = await createTopicReader(config);
  const messages = await readTopic(topicNameOf(config, 'collections'));
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
  test('of fifty identical payins over two replicas one is accepted, with one event', async () => {
    const outcomes = await Promise.all(
      fifty.map((index) => either(index).collections.accept(demo, payin('same'))),
    );
    expect([count(outcomes, 'accepted'), count(outcomes, 'DUPLICATE REFERENCE')]).toEqual([1, 49]);
    const references = outcomes.map((each) => (each.ok ? each.value.reference : each.refusal.reference));
    expect(new Set(references).size).toBe(1);
    expect(await stored({ 'order.merchantReference': 'same' })).toBe(1);
    expect(await initiatedEvents((reference) => reference === 'same')).toHaveLength(1);
  });

  test('of one reference with fifty contents exactly one is accepted', async () => {
    const outcomes = await Promise.all(
      fifty.map((index) =>
        either(index).collections.accept(demo, payin('contents', { transactionAmount: index + 1 })),
      ),
    );
    expect([count(outcomes, 'accepted'), count(outcomes, 'DUPLICATE REFERENCE')]).toEqual([1, 49]);
    expect(await stored({ 'order.merchantReference': 'contents' })).toBe(1);
  });

  test('another merchant may use the same reference', async () => {
    expect(outcomeOf(await left.collections.accept(merchantWith('other'), payin('same')))).toBe('accepted');
  });
});

describe('a refusal is certain: what was refused is not accepted for an earlier request (invariant P16, ADR 87)', () => {
  test('where an earlier one commits after its repetition has looked for it, the repetition is a duplicate', async () => {
    const late = await open();
    const { findByMerchantReferences } = late.store;
    const payinOnce = payin('late');
    Object.assign(late.store, {
      findByMerchantReferences: async (...args: Parameters<typeof findByMerchantReferences>) => {
        const found = await findByMerchantReferences(...args);
        await left.collections.accept(demo, payinOnce);
        return found;
      },
    });
    // Without a wallet in its currency no collection is accepted.
    const poor = { ...demo, wallets: [] };
    expect(outcomeOf(await late.collections.accept(poor, payinOnce))).toBe('DUPLICATE REFERENCE');
    expect(await stored({ 'order.merchantReference': 'late' })).toBe(1);
  });

  test.each([
    ['its route', { ...demo, wallets: [] }, 'OPERATOR NOT AVAILABLE'],
    ['a limit', merchantWith('demo', { collectionsPerNumberPerHour: 0 }), 'TOO MANY REQUESTS'],
  ] as const)(
    'refused for %s, and the earlier one is not accepted after that',
    async (_of, merchant, refusal) => {
      const reference = refusal.replaceAll(' ', '-');
      const repetition = Promise.withResolvers<string>();
      const slow = await open({ clock: systemClock });
      const { insert } = slow.store;
      let waits = true;
      Object.assign(slow.store, {
        insert: async (...args: Parameters<typeof insert>) => {
          if (waits) {
            waits = false;
            repetition.resolve(outcomeOf(await left.collections.accept(merchant, payin(reference))));
          }
          return insert(...args);
        },
      });
      const first = slow.collections.accept(demo, payin(reference));
      expect(await repetition.promise).toBe(refusal);
      expect(outcomeOf(await first)).toBe('SERVICE UNAVAILABLE');
      expect(await stored({ 'order.merchantReference': reference })).toBe(0);
      expect(outcomeOf(await right.collections.accept(demo, payin(reference)))).toBe('accepted');
    },
  );
});

describe('the limit per number counts what is accepted, exactly', () => {
  const spellings = ['2203111111', '+2203111111', '002203111111', '3111111'];
  const customer = (index: number) => ({ customerNumber: spellings[index % spellings.length] });

  test('of fifty at once over two replicas, in four spellings, as many are accepted as fit', async () => {
    const limited = merchantWith('limited', { collectionsPerNumberPerHour: 7 });
    const outcomes = await Promise.all(
      fifty.map((index) =>
        either(index).collections.accept(limited, payin(`number-${index}`, customer(index))),
      ),
    );
    expect([count(outcomes, 'accepted'), count(outcomes, 'TOO MANY REQUESTS')]).toEqual([7, 43]);
    expect(await stored({ merchantId: 'limited' })).toBe(7);
    const untilNextHour = Math.ceil((3_600_000 - (startMs % 3_600_000)) / 1_000);
    expect(outcomes.find(({ ok }) => !ok)).toMatchObject({
      refusal: { reference: '', retryAfterSeconds: untilNextHour },
    });
    const hours = await left.db.collection('usage').find().toArray();
    expect(hours.map(({ used }) => Number(used))).toEqual([7]);
    expect(JSON.stringify(hours.map(({ _id }) => _id))).not.toContain('3111111');
  });

  test('the limit per day counts amounts, exactly over two replicas, and says what it is', async () => {
    const daily = merchantWith('daily', { collectionsPerDayMaxMinor: { GMD: 70_000n } });
    const submit = async (index: number) => {
      const form = payin(`daily-${index}`, { customerNumber: `22037${String(index).padStart(5, '0')}` });
      return either(index).collections.accept(daily, form);
    };
    const outcomes = await Promise.all(fifty.map(submit));
    expect([count(outcomes, 'accepted'), count(outcomes, 'MERCHANT LIMIT EXCEEDED')]).toEqual([7, 43]);
    expect(outcomes.find(({ ok }) => !ok)).toMatchObject({
      refusal: { description: 'this would exceed your limit per day (UTC) of 700.00 GMD' },
    });
  });

  test('a refused one leaves nothing: its reference can be used for another number, and a duplicate is refused as such', async () => {
    const limited = merchantWith('limited', { collectionsPerNumberPerHour: 7 });
    expect(outcomeOf(await left.collections.accept(limited, payin('again', customer(0))))).toBe(
      'TOO MANY REQUESTS',
    );
    const other = payin('again', { customerNumber: '2203222222' });
    expect(outcomeOf(await right.collections.accept(limited, other))).toBe('accepted');
    expect(outcomeOf(await left.collections.accept(limited, payin('again', customer(0))))).toBe(
      'DUPLICATE REFERENCE',
    );
    const numbers = fifty.map((index) => ({ merchantId: 'limited', merchantReference: `number-${index}` }));
    const [id = ''] = (await left.store.findByMerchantReferences(numbers)).keys();
    const reference = id.replace('limited:', '');
    const repeated = await left.collections.accept(limited, payin(reference, customer(0)));
    expect(outcomeOf(repeated)).toBe('DUPLICATE REFERENCE');
    const dear = payin('dear', { ...customer(0), transactionAmount: 0 });
    expect(outcomeOf(await left.collections.accept(limited, dear))).toBe('INVALID AMOUNT');
  });

  test('one over all merchants counts them together, and ten is the limit of one who has none of its own', async () => {
    const shared = await Promise.all([0, 1].map(() => open({ collectionsPerNumberPerHour: 12 })));
    const number = { customerNumber: '2203333333' };
    const plain = { ...merchantWith('plain'), limits: { requestsPerSecond: 100 } };
    const submit = async (merchant: typeof plain, name: string) => {
      const outcomes = await Promise.all(
        shared.flatMap(({ collections }, replica) =>
          fifty
            .slice(0, 10)
            .map((index) => collections.accept(merchant, payin(`${name}-${replica}-${index}`, number))),
        ),
      );
      return count(outcomes, 'accepted');
    };
    expect(await submit(plain, 'one')).toBe(10);
    expect(await submit(merchantWith('another'), 'two')).toBe(2);
    expect(await submit(merchantWith('third'), 'three')).toBe(0);
  });

  test('a number whose count is held up delays its own payins alone, whose attempt is as old as its commit', async () => {
    const moved = { nowMs: startMs };
    const replica = await open({
      collectionsPerNumberPerHour: 500,
      clock: { ...systemClock, nowMs: () => moved.nowMs },
    });
    const held = payin('held', { customerNumber: '2203444444' });
    const numberDigest = digestOfNumber(held.content);
    const hour = numberLimit({ scope: 'payin', numberDigest, max: 500, nowMs: startMs });
    const submit = async (form: typeof held) => outcomeOf(await replica.collections.accept(demo, form));
    await left.db.client.withSession(async (rival) => {
      rival.startTransaction();
      const usage = left.db.collection<{ _id: string; used: bigint; forgetAt: Date }>('usage');
      await usage.insertOne(
        { _id: hour?.id ?? '', used: 1n, forgetAt: new Date(hour?.forgetAtMs ?? 0) },
        { session: rival },
      );
      let isThrough = false;
      const waiting = submit(held).finally(() => {
        isThrough = true;
      });
      const others = fifty.map((index) =>
        submit(payin(`free-${index}`, { customerNumber: `22036${String(index).padStart(5, '0')}` })),
      );
      expect(new Set(await Promise.all(others))).toEqual(new Set(['accepted']));
      expect(isThrough).toBe(false);
      // Later than the call of an attempt may begin: a link would fail without ever having been requested.
      moved.nowMs += CALL_WITHIN_MS + 1;
      await rival.abortTransaction();
      expect(await waiting).toBe('accepted');
      const accepted = await replica.collections.find('demo', 'held');
      expect(accepted).toMatchObject({ acceptedAtMs: startMs, attemptedAtMs: moved.nowMs });
    });
  });
});
