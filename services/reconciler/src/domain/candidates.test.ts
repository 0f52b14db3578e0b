import { describe, expect, it } from 'vitest';
import { CANDIDATES_MAX, candidatesOf, type Suspect } from './candidates.ts';

const payout: Suspect = {
  reference: 'po-1',
  kind: 'payout',
  status: 'failed',
  amount: 10_000n,
  railFee: 50n,
};
const collection: Suspect = {
  reference: 'co-1',
  kind: 'collection',
  status: 'failed',
  amount: 10_000n,
  railFee: 100n,
};
const others = (count: number, change: Partial<Suspect> = {}): readonly Suspect[] =>
  Array.from({ length: count }, (_, index) => ({
    ...payout,
    reference: `other-${index}`,
    amount: 777_000n + BigInt(index),
    railFee: 77n,
    ...change,
  }));

describe('the payments that could explain what a comparison cannot', () => {
  it.each([
    [-10_050n, payout, 'the amount fits: failed here'],
    [-10_000n, payout, 'the amount fits: failed here'],
    [10_050n, { ...payout, status: 'completed' }, 'the amount fits: completed here'],
    [-10_000n, { ...payout, status: 'reversed' }, 'the amount fits: reversed here'],
    [9_900n, collection, 'the amount fits: failed here'],
    [-9_900n, { ...collection, status: 'completed' }, 'the amount fits: completed here'],
  ] as const)('%s may be %o', (unexplained, suspect, why) => {
    const found = candidatesOf(
      [unexplained],
      [...others(50), suspect, ...others(50, { status: 'reversed' })],
      [],
    );
    expect(found[0]).toEqual({ reference: suspect.reference, why });
  });

  it.each([
    ['a failed payout can not have left more at the rail', 10_050n, payout],
    ['a failed collection can not have left less at the rail', -9_900n, collection],
    ['another amount', -10_049n, payout],
  ] as const)('are none where nothing fits: %s', (_, unexplained, suspect) => {
    expect(candidatesOf([unexplained], [suspect], [])).toEqual([]);
  });

  it('begin with those that have a break over as much, whatever their own amount', () => {
    const breaks = [
      { reference: 'co-7', kind: 'collection.amount_differs', amount: 10_050n },
      { reference: 'co-8', kind: 'collection.amount_differs', amount: 10_051n },
      { reference: 'po-8', kind: 'payout.amount_differs', amount: -10_050n },
      { reference: 'po-9', kind: 'payment.stuck', amount: null },
    ];
    const found = candidatesOf([-10_050n], [payout], breaks);
    expect(found.map(({ reference }) => reference)).toEqual(['co-7', 'po-8', 'po-1']);
    expect(found[0]?.why).toBe('its break collection.amount_differs is over as much');
  });

  it('are no more than so many, none twice', () => {
    const alike = others(60, { amount: 10_000n, railFee: 50n });
    const found = candidatesOf([-10_050n], [...alike, ...alike], []);
    expect(found).toHaveLength(CANDIDATES_MAX);
    expect(new Set(found.map(({ reference }) => reference)).size).toBe(CANDIDATES_MAX);
  });

  it('are found among thousands in no time', () => {
    const found = candidatesOf([-10_050n], [...others(20_000), payout], []);
    expect(found[0]?.reference).toBe('po-1');
  });
});
