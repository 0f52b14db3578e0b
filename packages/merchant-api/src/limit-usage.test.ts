import { expect, it } from 'vitest';
import { openLimitUsage } from './limit-usage.ts';

const own = { id: 'payin:demo', max: 3n, forgetAtMs: 0 };
const shared = { id: 'payin', max: 4n, forgetAtMs: 0 };
const day = { id: 'demo:GHS:2026-02-28', max: 10n, forgetAtMs: 0 };

it('counts in every limit, and stops at the first that is full', () => {
  const book = openLimitUsage(new Map([[own.id, 1n]]));
  expect([1, 2, 3].map(() => book.add([own, shared], 1n))).toEqual([undefined, undefined, own]);
  expect(book.changes()).toEqual([
    { limit: own, before: 1n, after: 3n },
    { limit: shared, before: 0n, after: 2n },
  ]);
});

it('counts nothing where one is full', () => {
  const book = openLimitUsage(new Map([[shared.id, 4n]]));
  expect(book.add([own, shared], 1n)).toBe(shared);
  expect(book.changes()).toEqual([]);
});

it('without limits lets everything through', () => {
  expect(openLimitUsage(new Map()).add([], 1n)).toBeUndefined();
});

it('takes back what did not happen, and never below nothing', () => {
  const book = openLimitUsage(new Map([[own.id, 2n]]));
  book.subtract([own, shared], 1n);
  expect(book.changes()).toEqual([{ limit: own, before: 2n, after: 1n }]);
  expect(book.add([own], 1n)).toBeUndefined();
  expect(book.changes()).toEqual([]);
});

it('admits as much as fits, in order, and what is refused does not count', () => {
  const book = openLimitUsage(new Map([[day.id, 3n]]));
  expect([4n, 4n, 3n, 1n].map((minor) => book.add([day], minor))).toEqual([undefined, day, undefined, day]);
  expect(book.changes()).toEqual([{ limit: day, before: 3n, after: 10n }]);
});
