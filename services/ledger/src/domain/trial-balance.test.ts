import { expect, it } from 'vitest';
import { trialBalance } from './trial-balance.ts';

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
