import { expect, it } from 'vitest';
import { openLimitUsage } from './limit-usage.ts';

const own = { id: 'payin:demo', max: 3n, takes: 1n, forgetAtMs: 0 };
const shared = { id: 'payin', max: 4n, takes: 1n, forgetAtMs: 0 };
const day = { id: 'demo:GHS:2026-02-28', max: 10n, takes: 1n, forgetAtMs: 0 };

it('counts in every limit, and stops at the first that is full', () => {
  const book = openLimitUsage(new Map([[own.id, 1n]]));
  expect([1, 2, 3].map(() => book.add([own, shared]))).toEqual([undefined, undefined, own]);
  expect(book.changes()).toEqual([
    { limit: own, before: 1n, after: 3n },
    { limit: shared, before: 0n, after: 2n },
  ]);
});

it('counts nothing where one is full', () => {
  const book = openLimitUsage(new Map([[shared.id, 4n]]));
  expect(book.add([own, shared])).toBe(shared);
  expect(book.changes()).toEqual([]);
});

it('without limits lets everything through', () => {
  expect(openLimitUsage(new Map()).add([])).toBeUndefined();
});

it('takes back what did not happen, and never below nothing', () => {
  const book = openLimitUsage(new Map([[own.id, 2n]]));
  book.subtract([own, shared]);
  expect(book.changes()).toEqual([{ limit: own, before: 2n, after: 1n }]);
  expect(book.add([own])).toBeUndefined();
  expect(book.changes()).toEqual([]);
});

it('admits as much as fits, in order, and what is refused does not count', () => {
  const book = openLimitUsage(new Map([[day.id, 3n]]));
  const outcomes = [4n, 4n, 3n, 1n].map((takes) => book.add([{ ...day, takes }]) === undefined);
  expect(outcomes).toEqual([true, false, true, false]);
  expect(book.changes()).toMatchObject([{ limit: { id: day.id }, before: 3n, after: 10n }]);
});

it('takes of each limit what that takes', () => {
  const amount = { ...day, id: 'amount', takes: 10n };
  const book = openLimitUsage(new Map());
  expect(book.add([own, amount])).toBeUndefined();
  expect(book.add([own, amount])).toBe(amount);
  expect(book.changes().map(({ after }) => after)).toEqual([1n, 10n]);
});

it('counts a limit as often as it is given, or not at all', () => {
  const book = openLimitUsage(new Map([[day.id, 3n]]));
  const some = (takes: bigint) => ({ ...day, takes });
  expect(book.add([some(4n), some(4n)])).toMatchObject({ id: day.id });
  expect(book.changes()).toEqual([]);
  expect(book.add([some(4n), some(3n)])).toBeUndefined();
  expect(book.changes()).toMatchObject([{ before: 3n, after: 10n }]);
});
