import { describe, expect, it } from 'vitest';
import { numberLimit, openCountBook, UNCOUNTED_FROM } from './limits.ts';

const NOW_MS = Date.UTC(2025, 0, 15, 12, 59, 30, 1);

function limit(max: number, changes: { readonly scope?: string; readonly nowMs?: number } = {}) {
  const made = numberLimit({ scope: 'payin', numberDigest: 'd', max, nowMs: NOW_MS, ...changes });
  if (!made) throw new Error('there is no limit');
  return made;
}

describe('a limit by number', () => {
  it('ends with the hour', () => {
    expect(limit(3)).toMatchObject({
      retryAfterSeconds: 30,
      forgetAtMs: Date.UTC(2025, 0, 15, 14),
    });
    expect(limit(3, { nowMs: NOW_MS + 29_999 }).id).not.toBe(limit(3).id);
    expect(limit(3, { nowMs: NOW_MS + 29_998 }).id).toBe(limit(3).id);
  });

  it('of a million is none', () => {
    expect(numberLimit({ scope: 'payin', numberDigest: 'd', max: UNCOUNTED_FROM, nowMs: 0 })).toBeUndefined();
  });
});

describe('a count book', () => {
  const own = limit(3, { scope: 'payin:demo' });
  const shared = limit(4);

  it('counts in every limit, and stops at the first that is full', () => {
    const book = openCountBook(new Map([[own.id, 1]]));
    expect([1, 2, 3].map(() => book.countOne([own, shared]))).toEqual([undefined, undefined, own]);
    expect(book.changes()).toEqual([
      { limit: own, before: 1, after: 3 },
      { limit: shared, before: 0, after: 2 },
    ]);
  });

  it('counts nothing where one is full', () => {
    const book = openCountBook(new Map([[shared.id, 4]]));
    expect(book.countOne([own, shared])).toBe(shared);
    expect(book.changes()).toEqual([]);
  });

  it('without limits lets everything through', () => {
    expect(openCountBook(new Map()).countOne([])).toBeUndefined();
  });

  it('takes back what did not happen, and never below nothing', () => {
    const book = openCountBook(new Map([[own.id, 2]]));
    book.takeBack([own, shared]);
    expect(book.changes()).toEqual([{ limit: own, before: 2, after: 1 }]);
    expect(book.countOne([own])).toBeUndefined();
    expect(book.changes()).toEqual([]);
  });
});
