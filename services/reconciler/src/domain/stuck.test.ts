import { describe, expect, it } from 'vitest';
import {
  called,
  checked,
  collection,
  completed,
  fold,
  opened,
  poll,
  settings,
  timing,
} from '../fixtures/verdicts.ts';
import { autoResolutionsOf } from './auto-resolution.ts';
import { apply, type PaymentObservation } from './observations.ts';
import { awaited } from './tracked.ts';
import { isEndOverdue } from './verdict.ts';

describe('a payment that never ends', () => {
  it.each([
    'callback.denied',
    'callback.amount_differs',
    'callback.fee_differs',
    'callback.unknown_reference',
    'coverage.missing',
    'statement.differs',
  ])('is stuck though somebody made %s open', (kind) => {
    const tracked = { ...collection(), breaks: [kind], polls: 19 };
    expect(poll(tracked, { kind: 'pending' }).breaks).toEqual(['payment.stuck']);
  });

  it('is stuck by the same poll that denies a callback', () => {
    const tracked = { ...collection(called()), polls: 19 };
    const { breaks } = poll(tracked, { kind: 'pending' }, { askedAtMs: 900_000 });
    expect(breaks).toEqual(['callback.denied', 'payment.stuck']);
  });
});

describe('a payment whose end the rail reports, and whose owner does not apply it', () => {
  const endReported = { ...poll({ ...collection(), polls: 19 }).after, polls: 20 };

  it('ends now by the first fact, however many polls there were before', () => {
    expect(poll({ ...collection(), polls: 500 })).toMatchObject({ fact: 'completed', breaks: [] });
  });

  it('has many times the allowed lag to end, and is a break of its own after', () => {
    expect(endReported.endReported).toEqual({ status: 'completed', sinceMs: 8_000 });
    expect(poll(endReported, checked, { askedAtMs: 907_999 })).toMatchObject({
      fact: 'completed',
      breaks: [],
    });
    const { fact, breaks, details, after } = poll(endReported, checked, { askedAtMs: 908_000 });
    expect({ fact, breaks }).toEqual({ fact: 'completed', breaks: ['payment.end_untaken'] });
    expect(details[0]).toContain('owner');
    expect(after.endReported?.sinceMs).toBe(8_000);
    expect(poll(after, checked, { askedAtMs: 1_900_000 })).toMatchObject({ fact: 'completed', breaks: [] });
    expect([after, fold(after, [completed()])].map((one) => one.breaks)).toEqual([
      ['payment.end_untaken'],
      [],
    ]);
  });

  it('is one though the rail reports another end each time, and though few polls reported one', () => {
    const failed = { kind: 'failed', reason: 'Declined' } as const;
    expect(poll(endReported, failed, { askedAtMs: 908_000 }).breaks).toEqual(['payment.end_untaken']);
    expect(poll({ ...endReported, polls: 3 }, failed, { askedAtMs: 908_000 }).breaks).toEqual([
      'payment.end_untaken',
    ]);
  });

  it('is published again once the allowed lag is over since it was reported, and not before', () => {
    const { verdict } = {
      verdict: { fact: { status: 'completed', amount: null, fee: null, reason: null } },
    } as const;
    const at = (askedAtMs: number) => isEndOverdue(endReported, verdict, { ...settings, askedAtMs });
    expect([at(67_999), at(68_000)]).toEqual([false, true]);
    expect(isEndOverdue({ endReported: null }, verdict, { ...settings, askedAtMs: 908_000 })).toBe(false);
    const open = { fact: { ...verdict.fact, status: 'notFound' } } as const;
    expect(isEndOverdue(endReported, open, { ...settings, askedAtMs: 908_000 })).toBe(false);
  });

  it('starts anew if it is reversed after it ended', () => {
    expect(fold(endReported, [completed()]).endReported).toBeNull();
  });

  it('has no reported end after NOT FOUND', () => {
    expect(poll(collection(), { kind: 'notFound' }).after.endReported).toBeNull();
  });
});

describe('NOT FOUND', () => {
  it('is one break, though a callback says COMPLETED', () => {
    const first = collection(called());
    expect(poll(first, { kind: 'notFound' }, { askedAtMs: 66_000 }).breaks).toEqual([]);
    const { breaks, after } = poll(
      { ...first, notFoundSinceMs: 8_000 },
      { kind: 'notFound' },
      { askedAtMs: 68_000 },
    );
    expect(breaks).toEqual(['collection.not_found']);
    expect(
      poll({ ...after, notFoundSinceMs: 8_000 }, { kind: 'notFound' }, { askedAtMs: 900_000 }).breaks,
    ).toEqual([]);
  });

  it('of a refused payout is one break as well', () => {
    const tracked = fold(awaited('po-1', 0), [opened('payout'), called({ kind: 'payout' })]);
    const { breaks } = poll({ ...tracked, refusedAtMs: 1_000 }, { kind: 'notFound' }, { askedAtMs: 900_000 });
    expect(breaks).toEqual(['payout.refused_again']);
  });
});

it.each<[string, PaymentObservation]>([
  [
    'the ledger posts it',
    { kind: 'posted', name: 'CollectionCredited', posting: 'capture', moved: null, atMs: 9_000 },
  ],
  ['its owner publishes it', { kind: 'asked', name: 'Requested', version: 2n, atMs: 9_000, answer: null }],
])('an unknown reference is known once %s: its break closes', (_name, observation) => {
  const before = { ...fold(awaited('co-1', 0), [called()]), breaks: ['callback.unknown_reference'] };
  const after = apply(before, observation, timing);
  expect(autoResolutionsOf(before, after, observation)).toMatchObject([
    { kind: 'callback.unknown_reference' },
  ]);
});

it('is asked for at once where no further completion is passed on (contract 10.12)', () => {
  const closed: PaymentObservation = {
    kind: 'closed',
    name: 'CollectionCompletionClosed',
    version: 3n,
    atMs: 6_900,
  };
  expect(collection(closed)).toMatchObject({ dueAtMs: 7_000, pollsInRound: 0 });
  expect(collection(completed(), { ...closed, version: 9n }).dueAtMs).toBeNull();
});
