import { describe, expect, it } from 'vitest';
import {
  called,
  checked,
  collection,
  DIFFERS,
  ended,
  fold,
  lookedUp,
  opened,
  poll,
  settings,
  terms,
} from '../fixtures/verdicts.ts';
import type { Claim } from './claim.ts';
import type { RailAnswer } from './judging.ts';
import type { PaymentObservation } from './observations.ts';
import { judgeProven } from './proven.ts';
import { awaited } from './tracked.ts';

describe('forged hints', () => {
  const spellings = Array.from({ length: 30 }, (_, index) =>
    called({ amount: `100.${'0'.repeat(index + 1)}` }),
  );
  const fees = Array.from({ length: 30 }, (_, index) => called({ fee: String(index + 1) }));
  const statuses = Array.from({ length: 30 }, (_, index) => called({ status: `NOTHING ${index}` }));
  const currencies = [null, 'KES', 'kes'].flatMap((currency) =>
    [null, '100', '1e2'].map((amount) => called({ amount, currency })),
  );
  const rails = Array.from({ length: 30 }, (_, index) => called({ rail: 'other', amount: String(index) }));
  const kinds = Array.from({ length: 30 }, (_, index) => called({ kind: 'payout', amount: String(index) }));
  const failures = Array.from({ length: 30 }, (_, index) =>
    called({ status: 'FAILED', amount: String(index) }),
  );

  it.each<[string, readonly PaymentObservation[]]>([
    ['in other spellings', spellings],
    ['with other fees', fees],
    ['without an end', statuses],
    ['with and without what was asked', currencies],
    ['of another rail', rails],
    ['of another kind', kinds],
    ['of a failure', failures],
  ])('never push out the one of another amount (%s)', (_name, flood) => {
    const real = called({ amount: '90' });
    for (const tracked of [
      collection(...flood, real),
      fold(awaited('co-1', 0), [...flood, real, opened('collection')]),
    ]) {
      expect(poll(tracked)).toMatchObject({
        fact: null,
        breaks: expect.arrayContaining([DIFFERS]) as unknown,
      });
      expect(tracked.callbacks.length).toBeLessThan(20);
    }
  });

  it('and proven claims that all agree push out no other amount before the terms are known', () => {
    const agreeing = [null, '100'].flatMap((amount) =>
      [null, 'KES'].flatMap((currency) =>
        [null, '1'].map((fee) => called({ proven: true, amount, currency, fee })),
      ),
    );
    const other = called({ proven: true, amount: '90', currency: 'KES', fee: null });
    const { callbacks } = fold(awaited('co-1', 0), [...agreeing, other]);
    expect(callbacks.map(({ amount }) => amount)).toContain('90');
  });

  it('of so many amounts that no more are kept leave the amount unclear', () => {
    const flood = Array.from({ length: 30 }, (_, index) => called({ amount: String(200 + index) }));
    expect(poll(collection(...flood, called({ amount: '90' })))).toMatchObject({
      fact: null,
      breaks: [DIFFERS],
    });
  });

  it('and proven fees of what was asked push out no other amount, and one of them is kept', () => {
    const fees = Array.from({ length: 30 }, (_, index) => called({ proven: true, fee: String(index + 1) }));
    const other = called({ proven: true, amount: '90' });
    const tracked = collection(called({ proven: true }), ...fees, other);
    expect(poll(tracked)).toMatchObject({ fact: null, breaks: expect.arrayContaining([DIFFERS]) as unknown });
    expect(tracked.callbacks.map(({ fee }) => fee)).toContain('1');
    expect(tracked.callbacks.length).toBeLessThan(5);
  });

  it('and proven ones of another rail leave room for the proof of its own', () => {
    const flood = Array.from({ length: 30 }, (_, index) =>
      called({ rail: 'other', proven: true, amount: String(200 + index) }),
    );
    const proof = called({ proven: true });
    for (const tracked of [
      collection(...flood, proof),
      fold(awaited('co-1', 0), [...flood, proof, opened('collection')]),
    ]) {
      expect(tracked.callbacks.filter(({ rail }) => rail !== 'other')).toEqual([proof.claim]);
      expect(tracked.callbacks).toHaveLength(2);
    }
  });
});

describe('a claim that comes again', () => {
  const payout = (...observations: readonly PaymentObservation[]) =>
    fold(awaited('po-1', 0), [opened('payout'), ended('payout', 'completed'), ...observations]);
  const reversal = (atMs: number, given: Partial<Claim> = {}) =>
    called({ kind: 'payout', status: 'REVERSED', atMs, ...given });
  const later = { askedAtMs: 500_000 };
  const denied = () => poll(payout(reversal(10_000)), lookedUp, { askedAtMs: 70_000 });

  it('was denied once, and is asked about anew: what was forged may be true then', () => {
    const { breaks, after } = denied();
    expect(breaks).toEqual(['callback.denied']);
    const again = fold(after, [reversal(500_000)]);
    expect(again.callbacks).toHaveLength(1);
    const { breaks: none, verdict } = poll(again, lookedUp, later);
    expect([none, verdict.lagging]).toEqual([[], true]);
    expect(poll(again, lookedUp, { askedAtMs: 559_999 }).verdict.lagging).toBe(true);
    const over = poll(again, lookedUp, { askedAtMs: 560_000 });
    expect([over.breaks, over.verdict.lagging]).toEqual([[], false]);
    const back: RailAnswer = { kind: 'reversed', amount: 10_000n, fee: null, reason: null };
    expect(poll(again, back, later)).toMatchObject({ fact: 'reversed', breaks: [] });
  });

  it.each<[string, readonly PaymentObservation[]]>([
    ['of an amount', Array.from({ length: 9 }, (_, index) => reversal(10_000, { amount: `${index}` }))],
    ['of an end, before the payment was known', [reversal(10_000)]],
  ])('is asked about though so many %s were forged that it is not kept itself', (_name, forged) => {
    const real = reversal(500_000, { amount: '100' });
    const isKept = forged.length < 9;
    const known = payout(...forged, real);
    expect(known.callbacks).toHaveLength(forged.length);
    expect(poll(known, lookedUp, later).verdict.lagging).toBe(true);
    const unknown = fold(awaited('po-1', 0), [
      ...forged,
      real,
      opened('payout'),
      ended('payout', 'completed'),
    ]);
    expect(poll(unknown, lookedUp, later).verdict.lagging).toBe(true);
    expect(known.callbacks.some(({ amount }) => amount === '100')).toBe(isKept);
  });

  it('is denied once the allowed lag is over since it first came, however often it is repeated', () => {
    const flood = Array.from({ length: 2_000 }, (_, index) => reversal(10_000 + index * 30));
    const { breaks, after } = poll(payout(...flood), lookedUp, { askedAtMs: 70_000 });
    expect(breaks).toEqual(['callback.denied']);
    expect(after.callbacks).toHaveLength(1);
    expect(poll(after, lookedUp, later)).toMatchObject({ breaks: [], verdict: { lagging: false } });
  });

  it('is as new as its latest repetition, though an older one of its sort comes after that', () => {
    const older = reversal(20_000, { amount: '90' });
    const again = payout(reversal(10_000), reversal(500_000), older);
    expect(again.callbacks).toHaveLength(2);
    expect(poll(again, lookedUp, later).verdict.lagging).toBe(true);
  });

  it('says nothing of the other claims', () => {
    const others = [reversal(500_000, { proven: true }), reversal(500_000, { rail: 'other' })];
    const [first] = payout(reversal(10_000), ...others).callbacks;
    expect(first).not.toHaveProperty('lastAtMs');
  });
});

describe.each<[string, Partial<Claim>]>([
  ['another rail', { rail: 'other' }],
  ['another rail, with proof', { rail: 'other', proven: true }],
  ['another kind of payment', { kind: 'payout' }],
])('a claim of %s', (_name, other) => {
  it.each<[string, Partial<Claim>, RailAnswer, unknown]>([
    ['names no amount', { amount: '1' }, checked, 'completed'],
    ['names no currency', { currency: 'GHS' }, checked, 'completed'],
    ['names no fee', { fee: '9' }, checked, 'completed'],
    ['denies nothing', { status: 'FAILED' }, checked, 'completed'],
    ['is not denied', { status: 'COMPLETED' }, { kind: 'pending' }, null],
  ])('%s, and makes a poll due', (_what, given, answer, fact) => {
    for (const tracked of [
      collection(called({ ...given, ...other })),
      fold(awaited('co-1', 0), [called({ ...given, ...other }), opened('collection')]),
    ]) {
      expect(tracked.dueAtMs).toBe(7_000);
      expect(poll(tracked, answer, { askedAtMs: 900_000 })).toMatchObject({ fact, breaks: [] });
    }
  });
});

describe('a callback that names another currency', () => {
  it.each([false, true])('is no fact, and one break that reports it (proven: %s)', (proven) => {
    const tracked = collection(called({ currency: 'GHS', proven }));
    const { fact, breaks, details, verdict } = poll(tracked);
    expect({ fact, breaks }).toEqual({ fact: null, breaks: [DIFFERS] });
    expect(details[0]).toContain('GHS');
    expect(verdict.findings[0]?.amount).toBeNull();
    expect(poll(collection(called({ currency: 'kes' }))).fact).toBe('completed');
  });

  it('is no fact by its own proof', () => {
    const claim = called({ currency: 'GHS', proven: true });
    const tracked = collection(claim);
    const verdict = judgeProven(tracked, terms('collection'), claim.claim, settings);
    expect(verdict).toMatchObject({ fact: null, findings: [{ kind: DIFFERS }] });
  });
});
