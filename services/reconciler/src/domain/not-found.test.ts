import { describe, expect, it } from 'vitest';
import type { ArrivedTime } from './arrived.ts';
import type { Claim } from './claim.ts';
import type { RailAnswer } from './judging.ts';
import { awaited, type Terms, type Tracked } from './tracked.ts';
import { judge } from './verdict.ts';

const GRACE_MS = 30_000;
const collection: Terms = {
  kind: 'collection',
  rail: 'upstream',
  merchantId: 'demo',
  currency: 'KES',
  country: 'KE',
  amount: 10_000n,
  railFee: 100n,
};
const absent: RailAnswer = { kind: 'notFound' };

const always: ArrivedTime = { sinceMs: 0, untilMs: Number.POSITIVE_INFINITY };

function poll(
  given: Partial<Tracked>,
  askedAtMs: number,
  answer = absent,
  terms = collection,
  arrived: ArrivedTime | null = always,
) {
  const tracked: Tracked = { ...awaited('co-1', 0), terms, status: 'open', ...given };
  const asked = {
    tracked,
    terms,
    source: 'poll',
    isScheduled: true,
    answer,
    askedAtMs,
    arrived,
  } as const;
  const verdict = judge({ ...asked, lagMs: 60_000, notFoundGraceMs: GRACE_MS, pollsBeforeBreak: 20 });
  return [verdict.fact?.status ?? null, verdict.findings.map(({ kind }) => kind), ...verdict.agreed];
}

describe('a collection that the rail does not know', () => {
  it.each<[string, Partial<Tracked>, number, unknown]>([
    ['for the first time', {}, 900_000, ['notFound', []]],
    ['within the grace times', { notFoundSinceMs: 0 }, 2 * GRACE_MS - 1, ['notFound', []]],
    [
      'and still not after them',
      { notFoundSinceMs: 0 },
      2 * GRACE_MS,
      ['notFound', ['collection.not_found']],
    ],
    [
      'and people know',
      { notFoundSinceMs: 0, breaks: ['collection.not_found'], polls: 40 },
      900_000,
      ['notFound', []],
    ],
    ['after its end', { notFoundSinceMs: 0, status: 'completed' }, 900_000, [null, []]],
  ])('%s', (_name, given, askedAtMs, expected) => {
    expect(poll(given, askedAtMs)).toEqual(expected);
  });

  it('has no break any more once the rail knows it', () => {
    const lost = { notFoundSinceMs: 0, breaks: ['collection.not_found'] };
    expect(poll(lost, 900_000, { kind: 'pending' })).toEqual([null, [], 'collection.not_found']);
    expect(poll(lost, 900_000, { kind: 'unknown' })).toEqual([null, []]);
  });

  it('is no matter of a payout, which has its own breaks', () => {
    const payout: Terms = { ...collection, kind: 'payout' };
    expect(poll({ notFoundSinceMs: 0 }, 899_999, absent, payout)).toEqual(['notFound', []]);
  });

  it('has a break of its own for a payout that was never sent, thirty grace times after its acceptance', () => {
    const payout: Terms = { ...collection, kind: 'payout' };
    expect(poll({}, 900_000, absent, payout)).toEqual(['notFound', ['payout.unattempted']]);
    expect(poll({ version: 4n }, 900_000, absent, payout)).toEqual(['notFound', []]);
    expect(poll({ breaks: ['hold.unanswered'] }, 900_000, absent, payout)).toEqual(['notFound', []]);
    const justAccepted: RailAnswer = { kind: 'notFound', takenOnAtMs: 899_000 };
    expect(poll({ version: 1n }, 900_000, justAccepted, payout)).toEqual(['notFound', []]);
  });

  it.each<RailAnswer>([{ kind: 'pending' }, { kind: 'unknown' }])('is none where it says %j', (answer) => {
    expect(poll({ notFoundSinceMs: 0 }, 900_000, answer)).toEqual([null, []]);
  });
});

it.each(['collection', 'payout'] as const)(
  'a %s of which the rail has reported an end is never sent again, however its lookup lags',
  (kind) => {
    const claim: Claim = {
      rail: 'upstream',
      kind,
      proven: true,
      status: 'COMPLETED',
      amount: '90',
      currency: null,
      fee: null,
      reason: null,
      atMs: 0,
    };
    const terms: Terms = { ...collection, kind };
    const breaks = [`${kind}.amount_differs`];
    expect(poll({ callbacks: [claim], breaks }, 1_000, absent, terms)[0]).toBeNull();
    const hinted = { callbacks: [{ ...claim, proven: false }], breaks };
    expect(poll(hinted, 1_000, absent, terms)[0]).toBe('notFound');
  },
);

it('a reference that was unknown for a while does not keep a payment from being seen as stuck', () => {
  const breaks = ['callback.unknown_reference'];
  expect(poll({ breaks, polls: 19 }, 1_000, { kind: 'pending' })).toEqual([null, ['payment.stuck']]);
});
