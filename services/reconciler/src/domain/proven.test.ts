import type { PaymentKind } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { newKinds, terms as termsOf } from '../fixtures/verdicts.ts';
import type { Claim } from './claim.ts';
import { addClaim } from './claims.ts';
import { afterProven, judgeProven } from './proven.ts';
import { awaited, type Terms, type Tracked } from './tracked.ts';
import { judge } from './verdict.ts';

const settings = { lagMs: 60_000, notFoundGraceMs: 30_000, pollsBeforeBreak: 1 };

const says = (kind: PaymentKind, status: string, given: Partial<Claim> = {}): Claim => ({
  rail: 'upstream',
  kind,
  proven: true,
  status,
  amount: '100.00',
  currency: null,
  fee: '0.5',
  reason: null,
  atMs: 1_000,
  ...given,
});

/** Applies claims one after another, as the working set does; gives the published facts and the opened breaks. */
function take(
  kind: PaymentKind,
  claims: readonly Claim[],
  given: Partial<Tracked> = {},
  terms: Terms = termsOf(kind),
) {
  let tracked: Tracked = { ...awaited('xx-1', 0), terms, status: 'open', dueAtMs: 31_000, ...given };
  const facts: unknown[] = [];
  const opened: string[] = [];
  for (const claim of claims) {
    tracked = { ...tracked, callbacks: addClaim(tracked.callbacks, claim, terms) };
    const verdict = judgeProven(tracked, terms, claim, settings);
    if (!verdict) continue;
    if (verdict.fact) facts.push(verdict.fact);
    opened.push(...newKinds(tracked, verdict));
    tracked = afterProven(tracked, claim, verdict, 2_000);
  }
  return { facts, opened, dueAtMs: tracked.dueAtMs, tracked };
}

it('a proven callback of a reversal is judged by its fee, as one of a completion is', () => {
  const taken = take('payout', [says('payout', 'REVERSED', { fee: '100.01' })]);
  expect(taken).toMatchObject({
    facts: [{ status: 'reversed', fee: 50n }],
    opened: ['callback.fee_differs'],
  });
});

describe.each<PaymentKind>(['payout', 'collection'])('a proven callback of a %s', (kind) => {
  const differs = `${kind}.amount_differs`;

  it.each<[string, Partial<Claim>, object]>([
    ['with the amount asked', {}, { amount: 10_000n, fee: 50n }],
    ['with the same amount otherwise written', { amount: '1e2' }, { amount: 10_000n, fee: 50n }],
    ['with its reason', { reason: 'Successful' }, { reason: 'Successful' }],
    ['in other letters', { status: 'Completed' }, { status: 'completed' }],
    ['without a fee', { fee: null }, { fee: kind === 'payout' ? 50n : null }],
    ['with another fee than the schedule', { fee: '0.75' }, { fee: 75n }],
  ])('is a fact %s, and needs no poll', (_name, given, fact) => {
    const taken = take(kind, [says(kind, 'COMPLETED', given)]);
    expect(taken.facts).toEqual([expect.objectContaining({ status: 'completed', ...fact })]);
    expect([taken.opened, taken.dueAtMs]).toEqual([[], 31_000]);
  });

  it.each(['99.99', '100.001', 'a hundred', '', '-100', '0', '1e99'])(
    'of %s instead of 100 is for people, once, and the rail is asked',
    (amount) => {
      const taken = take(kind, [says(kind, 'COMPLETED', { amount }), says(kind, 'COMPLETED', { amount })]);
      expect(taken).toMatchObject({ facts: [], opened: [differs], dueAtMs: 2_000 });
    },
  );

  it.each(['-1', '100.01', 'much', '0.001'])('takes no fee of %s, and opens one break', (fee) => {
    const taken = take(kind, [says(kind, 'COMPLETED', { fee }), says(kind, 'COMPLETED', { fee })]);
    expect(taken.opened).toEqual(['callback.fee_differs']);
    const booked = kind === 'payout' ? 50n : null;
    expect(taken.facts[0]).toMatchObject({ status: 'completed', amount: 10_000n, fee: booked });
  });

  it('may have a fee above a small amount, if the rail has a minimum', () => {
    const small: Terms = { ...termsOf(kind), amount: 500n, railFee: 1_000n };
    const taken = take(kind, [says(kind, 'COMPLETED', { amount: '5', fee: '10' })], {}, small);
    expect(taken).toMatchObject({ facts: [{ amount: 500n, fee: 1_000n }], opened: [] });
    const more = take(kind, [says(kind, 'COMPLETED', { amount: '5', fee: '10.01' })], {}, small);
    expect(more).toMatchObject({
      facts: [{ fee: kind === 'payout' ? 1_000n : null }],
      opened: ['callback.fee_differs'],
    });
  });

  it('of a failure is a fact, whatever amount it names', () => {
    const failed = says(kind, 'FAILED', { amount: '7', fee: 'x', reason: 'Declined' });
    expect(take(kind, [failed])).toMatchObject({
      facts: [{ status: 'failed', reason: 'Declined' }],
      opened: [],
    });
  });

  it.each(['PENDING', 'INITIALIZED', 'garbage', ''])('that says %j is no fact', (status) => {
    expect(judgeProven(take(kind, []).tracked, termsOf(kind), says(kind, status), settings)).toBeUndefined();
  });

  it.each<[string, Partial<Claim>]>([
    ['is not proven', { proven: false }],
    ['is of another rail', { rail: 'other' }],
    ['is of another kind of payment', { kind: kind === 'payout' ? 'collection' : 'payout' }],
  ])('that %s is no fact', (_name, given) => {
    expect(take(kind, [says(kind, 'COMPLETED', given)])).toMatchObject({ facts: [], opened: [] });
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['completed, then failed', ['COMPLETED', 'FAILED', 'FAILED'], ['completed']],
    ['failed, then completed', ['FAILED', 'COMPLETED'], ['failed']],
    ['completed, failed, completed', ['COMPLETED', 'FAILED', 'COMPLETED'], ['completed']],
  ])('that contradicts an earlier one (%s) is one break and no fact', (_name, statuses, facts) => {
    const taken = take(
      kind,
      statuses.map((status) => says(kind, status)),
    );
    expect(taken.facts).toMatchObject(facts.map((status) => ({ status })));
    expect(taken).toMatchObject({ opened: ['payment.contradiction'], dueAtMs: 2_000 });
  });

  it.each<[Tracked['status'], string]>([
    ['completed', 'FAILED'],
    ['failed', 'COMPLETED'],
  ])('against the end %s is one break and moves nothing', (status, claimed) => {
    const taken = take(kind, [says(kind, claimed), says(kind, claimed)], { status, dueAtMs: null });
    expect(taken).toMatchObject({ facts: [], opened: ['payment.contradiction'], dueAtMs: null });
  });

  it('of the end that is known is no news', () => {
    const taken = take(kind, [says(kind, 'COMPLETED')], { status: 'completed', dueAtMs: null });
    expect(taken).toMatchObject({ facts: [], opened: [], dueAtMs: null });
  });

  it('of another amount than an earlier one is for people', () => {
    const taken = take(kind, [says(kind, 'COMPLETED', { amount: '90' }), says(kind, 'COMPLETED')]);
    expect(taken).toMatchObject({ facts: [], opened: [differs] });
  });

  it('is not held up by forged hints, which are denied', () => {
    const forged = { proven: false } as const;
    const hints = [
      says(kind, 'COMPLETED', { ...forged, amount: '1', fee: '9' }),
      says(kind, 'FAILED', forged),
    ];
    const taken = take(kind, [...hints, says(kind, 'COMPLETED')]);
    expect(taken.facts).toEqual([
      expect.objectContaining({ status: 'completed', amount: 10_000n, fee: 50n }),
    ]);
    expect(taken.opened).toContain('callback.denied');
    expect(taken.opened).toContain('callback.amount_differs');
    expect(taken.opened).not.toContain('payment.contradiction');
  });

  it('clears what the rail did not know', () => {
    expect(take(kind, [says(kind, 'COMPLETED')], { notFoundSinceMs: 1 }).tracked.notFoundSinceMs).toBeNull();
  });
});

describe('a proven reversal', () => {
  it('of a completed payout is a fact', () => {
    const taken = take('payout', [says('payout', 'REVERSED')], { status: 'completed', dueAtMs: null });
    expect(taken).toMatchObject({ facts: [{ status: 'reversed', amount: 10_000n }], opened: [] });
    // The owner may have lost it.
    expect(taken.dueAtMs).toBe(62_000);
  });

  it('after a proven completion is no contradiction', () => {
    const taken = take('payout', [says('payout', 'COMPLETED'), says('payout', 'REVERSED')]);
    expect(taken.facts).toMatchObject([{ status: 'completed' }, { status: 'reversed' }]);
    expect(taken.opened).toEqual([]);
  });

  it('of a collection is for people', () => {
    expect(take('collection', [says('collection', 'REVERSED')])).toMatchObject({
      facts: [],
      opened: ['payment.contradiction'],
    });
  });
});

describe('a poll after proven callbacks', () => {
  const ask = (kind: PaymentKind, tracked: Tracked, status: 'completed' | 'failed', askedAtMs = 3_000) => {
    const paid = {
      kind: 'completed',
      amount: kind === 'payout' ? 10_000n : null,
      fee: null,
      reason: null,
    } as const;
    const answer = status === 'completed' ? paid : ({ kind: 'failed', reason: 'Declined' } as const);
    const asked = {
      tracked,
      terms: termsOf(kind),
      source: 'poll',
      answer,
      isScheduled: true,
    } as const;
    const verdict = judge({ ...asked, askedAtMs, arrived: null, ...settings });
    return [verdict.fact?.status ?? null, newKinds(tracked, verdict)];
  };

  it.each<PaymentKind>(['payout', 'collection'])(
    'that denies the only one of a %s is a break and no fact',
    (kind) => {
      const { tracked } = take(kind, [says(kind, 'COMPLETED')]);
      expect(ask(kind, tracked, 'failed')).toEqual([null, ['payment.contradiction']]);
      expect(ask(kind, tracked, 'completed')).toEqual(['completed', []]);
    },
  );

  it('decides where they contradict each other before the payment is known', () => {
    const callbacks = [says('payout', 'COMPLETED'), says('payout', 'FAILED')];
    const both = take('payout', callbacks, { callbacks });
    expect(both).toMatchObject({ facts: [], opened: ['payment.contradiction'] });
    expect(ask('payout', both.tracked, 'failed')).toEqual(['failed', []]);
    expect(ask('payout', both.tracked, 'completed')).toEqual(['completed', []]);
  });

  it.each([4_000, 900_000])(
    'decides over a proven reversal of a collection, which has none, whenever it comes (after %s ms)',
    (askedAtMs) => {
      const { tracked, opened } = take('collection', [says('collection', 'REVERSED')]);
      expect(opened).toEqual(['payment.contradiction']);
      expect(ask('collection', tracked, 'completed', askedAtMs)).toEqual(['completed', []]);
      expect(ask('collection', tracked, 'failed', askedAtMs)).toEqual(['failed', []]);
      const paid = take('collection', [says('collection', 'COMPLETED'), says('collection', 'REVERSED')]);
      expect(ask('collection', paid.tracked, 'failed', askedAtMs)[0]).toBeNull();
    },
  );

  it('finalises a payout whose proven callback has another amount, and not a collection', () => {
    for (const [kind, expected] of [
      ['payout', ['completed', []]],
      ['collection', [null, []]],
    ] as const) {
      const { tracked } = take(kind, [says(kind, 'COMPLETED', { amount: '90' })]);
      expect(ask(kind, tracked, 'completed')).toEqual(expected);
    }
  });
});
