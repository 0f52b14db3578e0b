import { accountOperations } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { type CurrencySums, describeAccount, sumsByCurrency, type TrialLine } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readCurrency } from '../arguments.ts';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { amountCell, formatJson, formatTable } from '../print.ts';

/** Adds `accounts list`: the trial balance of the ledger. */
export function addAccountsCommand(program: Command, ports: CliPorts): void {
  const accounts = program.command('accounts').description('the accounts of the books');
  const list = accounts
    .command('list')
    .description('every account of the books with its balance, as of one moment: a trial balance')
    .option('--currency <currency>', 'only the accounts of one currency')
    .option('--json', 'print JSON')
    .action(async (options: { readonly currency?: string; readonly json?: boolean }, command: Command) => {
      const currency = options.currency && readCurrency('--currency', options.currency);
      const { operations } = await openContext(ports, command);
      const { items } = await operations.call('ledger', accountOperations.trialBalance, {});
      const shown = items.filter((item) => currency === undefined || item.currency === currency);
      const sums = sumsByCurrency(shown);
      ports.print(options.json ? formatJson(shown) : tableOf(shown, sums, ports.colours));
      const differing = sums.filter(({ debits, credits }) => debits !== credits);
      if (differing.length > 0) {
        const names = differing.map((one) => one.currency).join(', ');
        throw new CliError(`debits and credits differ: ${names}: see pesewa ledger verify`);
      }
    });
  withExamples(list, ['pesewa accounts list', 'pesewa accounts list --currency KES --json']);
  withExitCodes(list, '0 if debits and credits are the same in every currency; else 1.');
}

/** Each account on the side of its balance, and after those of a currency the sums of both sides. */
function tableOf(lines: readonly TrialLine[], sums: readonly CurrencySums[], colours: boolean): string {
  const cell = (amount: string, currency: string) => (amount === '0' ? null : amountCell(amount, currency));
  return formatTable(
    ['ACCOUNT', 'ITS STATEMENT', 'DEBIT', 'CREDIT'],
    sums.flatMap(({ currency, debits, credits }) => [
      ...lines
        .filter((line) => line.currency === currency)
        .map(({ account, debit, credit }) => [
          describeAccount(account),
          account.startsWith('wallets:') ? null : `pesewa statement ${account}`,
          cell(debit, currency),
          cell(credit, currency),
        ]),
      [`${currency} in all`, null, displayAmount(debits, currency), displayAmount(credits, currency)],
    ]),
    { colours, empty: 'nothing is booked', right: ['DEBIT', 'CREDIT'] },
  );
}
