import { expect, it } from 'vitest';
import { splitByOwner } from './group-commit.ts';

const ownerOf = (item: string) => item.slice(0, 1);

it.each([
  [[], undefined],
  [['a1'], undefined],
  [['a1', 'a2', 'a3'], undefined],
  [
    ['a1', 'b1'],
    [['a1'], ['b1']],
  ],
  [
    ['a1', 'b1', 'a2', 'c1'],
    [
      ['a1', 'a2'],
      ['b1', 'c1'],
    ],
  ],
  [
    ['a1', 'b1', 'b2', 'b3'],
    [['a1'], ['b1', 'b2', 'b3']],
  ],
])('cuts %j between owners', (group, parts) => {
  expect(splitByOwner(group, ownerOf)).toEqual(parts);
});

it('cuts in the middle where each item stands for itself', () => {
  expect(splitByOwner(['a1', 'a2', 'a3'])).toEqual([['a1'], ['a2', 'a3']]);
});
