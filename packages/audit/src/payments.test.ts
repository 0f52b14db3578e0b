import { describe, expect, it } from 'vitest';
import { checkCollection, checkPayout } from './payments.ts';

const payment = {
  reference: 'po-1',
  merchantId: 'demo',
  currency: 'KES',
  amount: 1_000n,
  fee: 10n,
  step: 'ended',
};

const amounts = { hold: 1_010n, capture: 1_000n, fee: 10n, release: 1_010n, refund: 1_000n, collect: 990n };

function entries(...kinds: readonly (keyof typeof amounts)[]) {
  return new Map(
    kinds.map((kind) => [kind, { amount: amounts[kind], currency: 'KES', wallet: 'demo:KES' }] as const),
  );
}

describe('a payout and its entries agree', () => {
  it.each([
    ['INITIALIZED', 'awaitingHold', entries(), false],
    ['INITIALIZED', 'awaitingHold', entries('hold'), false],
    ['INITIALIZED', 'awaitingHold', entries(), true],
    ['INITIALIZED', 'submitted', entries('hold'), false],
    ['COMPLETED', 'ended', entries('hold', 'capture', 'fee'), false],
    ['FAILED', 'ended', entries('hold', 'release'), false],
    ['FAILED', 'ended', entries(), true],
    ['REVERSED', 'ended', entries('hold', 'capture', 'fee', 'refund'), false],
  ] as const)('%s, %s, %o, refused %s', (status, step, kinds, isRefused) => {
    expect(checkPayout({ ...payment, status, step }, kinds, isRefused)).toEqual([]);
  });

  it('without a fee where there is none', () => {
    const free = new Map([
      ['hold', { amount: 1_000n, currency: 'KES' }],
      ['capture', { amount: 1_000n, currency: 'KES' }],
    ]);
    expect(checkPayout({ ...payment, fee: 0n, status: 'COMPLETED' }, free, false)).toEqual([]);
  });
});

describe('a payout and its entries disagree', () => {
  it.each([
    ['INITIALIZED', 'submitted', entries(), false, 'L5', 'is INITIALIZED, but has no hold'],
    [
      'INITIALIZED',
      'submitted',
      entries('hold', 'release'),
      false,
      'L5',
      'is INITIALIZED, but has a release',
    ],
    ['COMPLETED', 'ended', entries('hold'), false, 'L5', 'is COMPLETED, but has no capture'],
    ['COMPLETED', 'ended', entries(), true, 'L5', 'is COMPLETED, but its hold was refused'],
    ['FAILED', 'ended', entries('hold', 'capture', 'fee'), false, 'L5', 'is FAILED, but has no release'],
    ['FAILED', 'ended', entries('hold', 'release'), true, 'L5', 'its hold was both placed and refused'],
    ['REVERSED', 'ended', entries('hold', 'capture', 'fee'), false, 'L5', 'is REVERSED, but has no refund'],
    [
      'COMPLETED',
      'ended',
      entries('hold', 'capture'),
      false,
      'L10',
      'a fee of 0 was taken; its record says 10',
    ],
    ['LOST', 'ended', entries(), false, 'L5', 'its status LOST is unknown'],
  ] as const)('%s, %s, %o, refused %s: %s', (status, step, kinds, isRefused, invariant, message) => {
    expect(checkPayout({ ...payment, status, step }, kinds, isRefused)[0]).toEqual([invariant, message]);
  });

  it('about the wallet', () => {
    const found = checkPayout(
      { ...payment, merchantId: 'rival', status: 'INITIALIZED' },
      entries('hold'),
      false,
    );
    expect(found).toEqual([['L10', 'its entries are in another wallet']]);
  });
});

describe('a collection', () => {
  it.each([
    ['COMPLETED', entries('collect', 'fee'), []],
    ['PENDING', entries(), []],
    ['FAILED', entries('collect'), [['L11', 'is FAILED, but was credited']]],
    ['COMPLETED', entries('fee'), [['L11', 'was credited 0; received less the fee is 990']]],
    ['COMPLETED', entries('collect'), [['L11', 'a fee of 0 was taken; its record says 10']]],
  ] as const)('that is %s with %o', (status, kinds, expected) => {
    expect(checkCollection({ ...payment, status }, kinds)).toEqual(expected);
  });

  it.each([
    [1_000n, []],
    [1_100n, [['L11', 'was credited 990; received less the fee is 1090']]],
  ] as const)('of which %d was received, whatever was asked', (amountReceived, expected) => {
    const kinds = entries('collect', 'fee');
    const decided = { ...payment, amount: 2_000n, amountReceived, status: 'COMPLETED' };
    expect(checkCollection(decided, kinds)).toEqual(expected);
  });
});
