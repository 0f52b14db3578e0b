import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const lines = [
  { currency: 'KES', account: 'float:upstream:KES', debit: '1234.5', credit: '0' },
  { currency: 'KES', account: 'wallets:available:KES', debit: '0', credit: '1234.5' },
  { currency: 'XOF', account: 'treasury:XOF', debit: '0', credit: '7' },
];
const answer = (items: readonly object[]) => ({ status: 200, body: { items, next: null } });

it('lists the accounts of a currency, and says that debits and credits are the same', async () => {
  const line = commandLine([answer(lines)]);
  expect(await line.run('accounts', 'list', '--currency', 'kes')).toBe(0);
  expect(line.requests).toEqual(['http://ledger/trial-balance']);
  expect(line.printed()).toBe(
    'WHAT                                     ACCOUNT                       DEBIT        CREDIT\n' +
      'KES float at upstream                    float:upstream:KES     1,234.50 KES             -\n' +
      'KES wallets of all merchants, available  wallets:available:KES             -  1,234.50 KES\n' +
      'debits and credits are the same in 1 of 1 currencies\n',
  );
});

it('fails where they differ, and names the currency', async () => {
  const line = commandLine([answer(lines)]);
  expect(await line.run('accounts', 'list')).toBe(1);
  expect(line.complained()).toBe('pesewa: debits and credits differ: XOF: see pesewa ledger verify\n');
});
