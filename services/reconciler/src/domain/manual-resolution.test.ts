import { describe, expect, it } from 'vitest';
import { fold, opened, terms, timing } from '../fixtures/verdicts.ts';
import { judgeBooks } from './books.ts';
import { resolved } from './break.ts';
import type { BreakKind } from './break-kinds.ts';
import { afterManualResolution } from './manual-resolution.ts';
import { observe, toFoundBreak } from './observing.ts';
import { awaited, type Tracked } from './tracked.ts';

const NOW_MS = 50_000;
const completed = fold(awaited('po-1', 0), [
  opened('payout'),
  {
    kind: 'ended',
    name: 'PayoutCompleted',
    version: 5n,
    atMs: 2_000,
    status: 'completed',
    terms: terms('payout'),
  },
]);
const unposted = { ...completed, booksDueAtMs: null, breaks: ['books.unposted'] };
const reversed = {
  kind: 'ended',
  name: 'PayoutReversed',
  version: 6n,
  atMs: 3_000,
  status: 'reversed',
  terms: terms('payout'),
} as const;

/** The payment once its break of a kind is resolved. */
function resolvedBy(by: 'person' | 'order', payment: Tracked, kind: BreakKind): Tracked {
  const at = new Date(NOW_MS);
  const finding = { kind, amount: null, detail: 'x' };
  const before = observe(toFoundBreak(payment.reference, finding, { currency: 'KES' }, at), undefined);
  return afterManualResolution(payment, before, resolved(before, { by: null, at }, 'known'), { by, at });
}

describe('a payment whose break over its entries is resolved', () => {
  it('by a person, is held against them once more: what is still missing is found again', () => {
    const after = resolvedBy('person', unposted, 'books.unposted');
    expect(after).toMatchObject({ breaks: [], booksDueAtMs: NOW_MS });
    expect(judgeBooks(after)?.kind).toBe('books.unposted');
  });

  it('by a person, is due for no comparison if its entries match by now', () => {
    const after = resolvedBy('person', { ...unposted, posted: true }, 'books.unposted');
    expect(after).toMatchObject({ breaks: [], booksDueAtMs: null });
  });

  it('by an order of the ledger, is left as it is until something new happens to it', () => {
    const after = resolvedBy('order', unposted, 'books.unposted');
    expect(after).toMatchObject({ breaks: [], booksDueAtMs: null });
    expect(fold(after, [reversed]).booksDueAtMs).toBe(timing.nowMs + timing.booksGraceMs);
  });

  it('over an unexplained entry, stays as the person left it', () => {
    const stray = { ...awaited('po-2', 0), posted: true, breaks: ['books.unexplained_entry'] };
    const after = resolvedBy('person', stray, 'books.unexplained_entry');
    expect(after).toMatchObject({ breaks: stray.breaks, booksDueAtMs: null });
  });
});

describe('entries of which one was seen without its amount', () => {
  it('have no sum, and so no difference is reported', () => {
    const moved = { rail: 'upstream', currency: 'KES', minor: 10_000n };
    const refund = {
      kind: 'posted',
      name: 'PayoutRefunded',
      posting: 'refund',
      moved,
      atMs: 4_000,
    } as const;
    const after = fold({ ...completed, posted: true, booked: null }, [reversed, refund]);
    expect(after.booked).toBeNull();
    expect(judgeBooks(after)).toBeUndefined();
  });
});
