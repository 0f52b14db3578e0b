import { expect, it } from 'vitest';
import { sumsForPeople, trialBalance } from './trial-balance.ts';

it('has each account once, by currency, on the side of its balance', () => {
  const shared = [
    { account: 'treasury:KES', debits: 5n, credits: 105n },
    { account: 'float:upstream:KES', debits: 90n, credits: 10n },
    { account: 'feeIncome:GHS', debits: 0n, credits: 3n },
  ];
  const wallets = [{ currency: 'KES', available: -25n, held: 5n }];
  expect(trialBalance(wallets, shared)).toEqual([
    { currency: 'GHS', account: 'feeIncome:GHS', debit: 0n, credit: 3n },
    { currency: 'KES', account: 'float:upstream:KES', debit: 80n, credit: 0n },
    { currency: 'KES', account: 'treasury:KES', debit: 0n, credit: 100n },
    { currency: 'KES', account: 'wallets:available:KES', debit: 25n, credit: 0n },
    { currency: 'KES', account: 'wallets:held:KES', debit: 0n, credit: 5n },
  ]);
});

it('names suspense that is not zero, and floats that are overdrawn or less than what open payouts hold', () => {
  const shared = [
    { account: 'float:one:GHS', debits: 60n, credits: 0n },
    { account: 'float:two:GHS', debits: 40n, credits: 0n },
    { account: 'float:one:KES', debits: 100n, credits: 0n },
    { account: 'float:one:XOF', debits: 0n, credits: 5n },
    { account: 'float:two:XOF', debits: 9n, credits: 0n },
    { account: 'suspense:GHS', debits: 0n, credits: 40n },
    { account: 'suspense:KES', debits: 3n, credits: 3n },
    { account: 'suspense:XOF', debits: 7n, credits: 0n },
    { account: 'treasury:GHS', debits: 0n, credits: 9n },
  ];
  const held = (currency: string, held: bigint) => ({ currency, available: 0n, held });
  expect(sumsForPeople([held('GHS', 101n), held('KES', 100n)], shared)).toEqual({
    suspense: [
      { account: 'suspense:GHS', currency: 'GHS', balance: 40n },
      { account: 'suspense:XOF', currency: 'XOF', balance: -7n },
    ],
    lowFloats: [
      { account: 'float:one:GHS', currency: 'GHS', balance: 60n, held: 101n },
      { account: 'float:two:GHS', currency: 'GHS', balance: 40n, held: 101n },
      { account: 'float:one:XOF', currency: 'XOF', balance: -5n, held: 0n },
    ],
  });
});
