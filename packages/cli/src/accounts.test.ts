import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const lines = [
  { currency: 'KES', account: 'float:upstream:KES', debit: '1234.5', credit: '0' },
  { currency: 'KES', account: 'wallets:available:KES', debit: '0', credit: '1234.5' },
  { currency: 'XOF', account: 'treasury:XOF', debit: '0', credit: '7' },
];
const answer = (items: readonly object[]) => ({ status: 200, body: { items, next: null } });

it('lists the accounts of a currency, and the sums of both sides, which are the same', async () => {
  const line = commandLine([answer(lines)]);
  expect(await line.run('accounts', 'list', '--currency', 'kes')).toBe(0);
  expect(line.requests).toEqual(['http://ledger/trial-balance']);
  expect(line.printed()).toBe(
    'ACCOUNT                                  ITS STATEMENT                               DEBIT        CREDIT\n' +
      'KES float at upstream                    pesewa statement float:upstream:KES  1,234.50 KES             -\n' +
      'KES wallets of all merchants, available  -                                               -  1,234.50 KES\n' +
      'KES in all                               -                                    1,234.50 KES  1,234.50 KES\n',
  );
});

it('fails where they differ, and names the currency', async () => {
  const line = commandLine([answer(lines)]);
  expect(await line.run('accounts', 'list')).toBe(1);
  expect(line.complained()).toBe('pesewa: debits and credits differ: XOF: see pesewa ledger verify\n');
});
