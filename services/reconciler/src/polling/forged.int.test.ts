import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, callback, collected, completed, ids, initiated } from '../fixtures/owners.ts';

const harness = createHarness('frg', process.env);
const { about, answers, breaksOf, publish, rowOf } = harness;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const kinds = {
  payout: { prefix: 'po', begin: accepted, end: completed },
  collection: { prefix: 'co', begin: initiated, end: (reference: string) => collected(reference, 10_000n) },
} as const;
// What every other claim comes to is proven where it is judged: `domain/claims.test.ts` and `domain/proven.test.ts`.
const cases = [
  ['payout', 'COMPLETED', 'a hint'],
  ['payout', 'FAILED', 'proof of another rail'],
  ['collection', 'FAILED', 'a hint'],
  ['collection', 'COMPLETED', 'proof of another rail'],
] as const;

/** A forged callback: unsigned, or signed by another rail than the payment's. */
function forged(kind: 'payout' | 'collection', reference: string, status: string, how: string) {
  const hint = callback(reference, status, '100', kind);
  if (how === 'a hint' || hint.type !== 'pesewa.rails.CallbackReceived') return hint;
  return { ...hint, payload: { ...hint.payload, proven: true, rail: 'other' } };
}

beforeAll(harness.open);
afterAll(harness.close);

describe.each(cases)('a forged callback for a %s that claims %s (%s)', (kind, status, how) => {
  const { prefix, begin, end } = kinds[kind];

  // Another rail's statement about this payment is ignored: the payment is polled, and no break is opened.
  const isOwn = how === 'a hint';

  it('moves nothing while the rail says pending: a poll, and a break if it is of the payment’s rail', async () => {
    const reference = ids.next(prefix);
    await publish(begin(reference), forged(kind, reference, status, how));
    const polls = async () => (await rowOf(reference))?.polls ?? 0;
    if (isOwn) await until('the break', () => about(reference, 'BreakOpened').length > 0);
    const seen = await polls();
    await until('more polls', async () => (await polls()) > seen + 1);
    expect(await breaksOf(reference)).toEqual(isOwn ? ['callback.denied'] : []);
    expect(about(reference, 'RailStatusObserved')).toEqual([]);
    expect(await rowOf(reference)).toMatchObject({ status: 'open' });
  });

  it('moves nothing after the end', async () => {
    const reference = ids.next(prefix);
    answers.set(reference, {
      kind: 'completed',
      amount: kind === 'payout' ? 10_000n : null,
      fee: null,
      reason: null,
    });
    await publish(begin(reference), end(reference));
    await until('the end', async () => (await rowOf(reference))?.status === 'completed');
    const [published, polls] = [
      about(reference, 'RailStatusObserved').length,
      (await rowOf(reference))?.polls ?? 0,
    ];
    await publish(forged(kind, reference, status, how));
    await until('the poll', async () => ((await rowOf(reference))?.polls ?? 0) > polls);
    const isDenied = isOwn && status === 'FAILED';
    if (isDenied) await until('the break', () => about(reference, 'BreakOpened').length > 0);
    expect(await breaksOf(reference)).toEqual(isDenied ? ['callback.denied'] : []);
    expect(about(reference, 'RailStatusObserved')).toHaveLength(published);
    expect(await rowOf(reference)).toMatchObject({ status: 'completed' });
  });
});
