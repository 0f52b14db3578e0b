import { describe, expect, it } from 'vitest';
import { ended, fold, opened, timing } from '../fixtures/verdicts.ts';
import { autoResolutionsOf } from './auto-resolution.ts';
import { judgeBooks } from './books.ts';
import { apply, type PaymentObservation } from './observations.ts';
import { awaited, type Tracked } from './tracked.ts';

const entry = (
  posting: 'capture' | 'refund' | 'release',
  minor: bigint | null = null,
  of: { readonly rail?: string; readonly currency?: string; readonly atMs?: number } = {},
): PaymentObservation => ({
  kind: 'posted',
  name: `Entry of ${posting}`,
  posting,
  moved: minor === null ? null : { rail: 'upstream', currency: 'KES', minor, ...of },
  atMs: of.atMs ?? 9_500,
});
const captured = entry('capture', -10_000n);
const credited = entry('capture', 10_000n);
const refunded = entry('refund', 10_000n);
const released = entry('release');
const payout = (...observations: readonly PaymentObservation[]) =>
  fold(awaited('po-1', 0), [opened('payout'), ...observations]);
const collection = (...observations: readonly PaymentObservation[]) =>
  fold(awaited('co-1', 0), [opened('collection'), ...observations]);

describe('the books of a payment', () => {
  it.each<[string, Tracked]>([
    ['an open payout', payout()],
    ['a completed payout with its capture', payout(ended('payout', 'completed'), captured)],
    ['the same the other way round', payout(captured, ended('payout', 'completed'))],
    [
      'a reversed payout with capture and refund',
      payout(ended('payout', 'completed'), captured, ended('payout', 'reversed'), refunded),
    ],
    ['a failed payout with its release', payout(ended('payout', 'failed'), released)],
    ['a payout whose hold was refused', payout(released, ended('payout', 'failed'))],
    ['an open collection', collection()],
    ['a completed collection with its credit', collection(ended('collection', 'completed'), credited)],
    [
      'one that completed with another amount, and its credit',
      collection(ended('collection', 'completed', 10_100n), entry('capture', 10_100n)),
    ],
    ['a failed collection', collection(ended('collection', 'failed'))],
    ['a reference that callbacks alone speak of', awaited('po-1', 0)],
  ])('are in order: %s', (_name, tracked) => {
    expect(judgeBooks(tracked)).toBeUndefined();
    expect(tracked.booksDueAtMs).toBeNull();
  });

  it.each<[string, Tracked, string, bigint | null]>([
    ['a completed payout', payout(ended('payout', 'completed')), 'books.unposted', -10_000n],
    ['a completed collection', collection(ended('collection', 'completed')), 'books.unposted', 10_000n],
    [
      'a reversed payout without its refund',
      payout(ended('payout', 'completed'), captured, ended('payout', 'reversed')),
      'books.unposted',
      10_000n,
    ],
    ['a reversed payout without entries', payout(ended('payout', 'reversed')), 'books.unposted', 0n],
    ['a failed payout', payout(ended('payout', 'failed')), 'books.unreleased', 0n],
    ['a failed payout', payout(ended('payout', 'failed'), captured), 'books.posted_wrongly', 10_000n],
    ['an open payout', payout(captured), 'books.posted_wrongly', null],
    ['an open payout', payout(released), 'books.posted_wrongly', null],
    [
      'a completed payout whose hold was given back',
      payout(ended('payout', 'completed'), released),
      'books.posted_wrongly',
      -10_000n,
    ],
    [
      'a completed payout with a refund',
      payout(ended('payout', 'completed'), captured, refunded),
      'books.posted_wrongly',
      -10_000n,
    ],
    [
      'a failed collection with a credit',
      collection(ended('collection', 'failed'), credited),
      'books.posted_wrongly',
      -10_000n,
    ],
    [
      'a capture of another amount',
      payout(ended('payout', 'completed'), entry('capture', -9_999n)),
      'books.posted_wrongly',
      -1n,
    ],
    [
      'a capture at another rail',
      payout(ended('payout', 'completed'), entry('capture', -10_000n, { rail: 'other' })),
      'books.posted_wrongly',
      0n,
    ],
    [
      'a capture in another currency',
      payout(ended('payout', 'completed'), entry('capture', -10_000n, { currency: 'GHS' })),
      'books.posted_wrongly',
      null,
    ],
    [
      'an entry of an unknown payment',
      fold(awaited('po-1', 0), [captured]),
      'books.unexplained_entry',
      10_000n,
    ],
  ])('are not: %s is found', (_name, tracked, kind, amount) => {
    expect(judgeBooks(tracked)).toMatchObject({ kind, amount });
    expect(tracked.booksDueAtMs).toBe(timing.nowMs + timing.booksGraceMs);
  });

  it('an entry without a known amount is correct', () => {
    expect(judgeBooks(payout(ended('payout', 'completed'), entry('capture')))).toBeUndefined();
  });

  it('an entry so old that the topics no longer have its payment is left alone', () => {
    const weekMs = 7 * 86_400_000;
    const old = apply(awaited('po-1', 0), captured, { ...timing, nowMs: 9_500 + weekMs + 1 });
    expect(old.booksDueAtMs).toBeNull();
    const recent = apply(awaited('po-1', 0), captured, { ...timing, nowMs: 9_500 + weekMs });
    expect(recent.booksDueAtMs).not.toBeNull();
    // It explains what was going to be looked into, such as a callback that named the payment first.
    const later = apply(recent, entry('refund', 10_000n), { ...timing, nowMs: 9_500 + weekMs + 1 });
    expect(later.booksDueAtMs).toBeNull();
  });

  it('are due a grace time after the first that was amiss, and not again once people know', () => {
    const first = payout(ended('payout', 'completed'));
    const later = apply(first, ended('payout', 'reversed'), { ...timing, nowMs: 50_000 });
    expect(later.booksDueAtMs).toBe(first.booksDueAtMs);
    const withBreak = { ...first, breaks: ['books.unposted'], booksDueAtMs: null };
    expect(apply(withBreak, ended('payout', 'reversed'), timing).booksDueAtMs).toBeNull();
  });
});

describe('a break over the books', () => {
  const withBreak = (tracked: Tracked, kind: string): Tracked => ({
    ...tracked,
    breaks: [kind],
    booksDueAtMs: null,
  });
  it.each<[string, Tracked, PaymentObservation]>([
    ['books.unposted', payout(ended('payout', 'completed')), captured],
    ['books.unreleased', payout(ended('payout', 'failed')), released],
    ['books.posted_wrongly', payout(captured), ended('payout', 'completed')],
    ['books.unexplained_entry', fold(awaited('po-1', 0), [captured]), opened('payout')],
  ])('closes with its cause, and may open again: %s', (kind, tracked, observation) => {
    const before = withBreak(tracked, kind);
    const after = apply(before, observation, timing);
    expect(autoResolutionsOf(before, after, observation)).toMatchObject([{ kind }]);
    expect(fold(before, [observation]).breaks).toEqual([]);
  });

  it('stays while it is not explained', () => {
    const before = withBreak(payout(ended('payout', 'completed')), 'books.unposted');
    expect(fold(before, [ended('payout', 'reversed')]).breaks).toEqual(['books.unposted']);
  });
});
