import { expect, it } from 'vitest';
import { appendBounded, type BoundedItem } from './bounded-list.ts';

interface Step extends BoundedItem {
  readonly name: number;
}

const keep = { first: 2, newest: 3 };
const after = (count: number, before: readonly Step[] = []) =>
  Array.from({ length: count }, (_, name): Step => ({ name })).reduce<readonly Step[]>(
    (items, step) => appendBounded(items, step, keep),
    before,
  );

it('keeps all as long as there is room', () => {
  expect(after(5)).toEqual([0, 1, 2, 3, 4].map((name) => ({ name })));
});

it('keeps the first and the newest, and counts what was between them where it was', () => {
  expect(after(6)).toEqual([{ name: 0 }, { name: 1 }, { name: 3, notKept: 1 }, { name: 4 }, { name: 5 }]);
  expect(after(1_000)).toEqual([
    { name: 0 },
    { name: 1 },
    { name: 997, notKept: 995 },
    { name: 998 },
    { name: 999 },
  ]);
});

it('counts an item as often as what it stands for happened', () => {
  const repeated = [{ name: 7 }, { name: 8 }, { name: 9, times: 20 }, { name: 10 }, { name: 11, times: 3 }];
  expect(after(2, repeated)[2]).toEqual({ name: 11, times: 3, notKept: 21 });
});

it('takes what was kept before there was a count for whole, and brings a longer list within the bound', () => {
  const longer = Array.from({ length: 9 }, (_, name): Step => ({ name }));
  expect(appendBounded<Step>(longer, { name: 9 }, keep)).toEqual([
    { name: 0 },
    { name: 1 },
    { name: 7, notKept: 5 },
    { name: 8 },
    { name: 9 },
  ]);
});
