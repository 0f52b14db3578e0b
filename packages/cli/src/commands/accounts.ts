import { accountOperations } from '@pesewa/contracts';
import { parseAmount } from '@pesewa/kernel';
import type { Command } from 'commander';
import { readCurrency } from '../arguments.ts';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples, withExitCodes } from '../help.ts';
import { describeAccount } from '../labels.ts';
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
      const sums = sumsOf(shown);
      ports.print(options.json ? formatJson(shown) : `${tableOf(shown, ports.colours)}${sums.text}`);
      if (sums.differing.length > 0)
        throw new CliError(
          `debits and credits differ: ${sums.differing.join(', ')}: see pesewa ledger verify`,
        );
    });
  withExamples(list, ['pesewa accounts list', 'pesewa accounts list --currency KES --json']);
  withExitCodes(list, '0 if debits and credits are the same in every currency; else 1.');
}

interface Line {
  readonly currency: string;
  readonly account: string;
  readonly debit: string;
  readonly credit: string;
}

function sumsOf(lines: readonly Line[]): { readonly text: string; readonly differing: readonly string[] } {
  const currencies = [...Map.groupBy(lines, ({ currency }) => currency)].map(([currency, own]) => {
    const sum = (side: 'debit' | 'credit') =>
      own.reduce((total, line) => total + minorOf(line[side], currency), 0n);
    return { currency, debits: sum('debit'), credits: sum('credit') };
  });
  const differing = currencies.filter(({ debits, credits }) => debits !== credits);
  const count = currencies.length - differing.length;
  const text =
    count === 0 ? '' : `debits and credits are the same in ${count} of ${currencies.length} currencies\n`;
  return { text, differing: differing.map(({ currency }) => currency) };
}

function minorOf(text: string, currency: string): bigint {
  const amount = parseAmount(text, currency);
  if (!amount.ok) throw new CliError(`ledger: ${text} is no amount in ${currency}`);
  return amount.value.minor;
}

function tableOf(lines: readonly Line[], colours: boolean): string {
  const cell = (amount: string, currency: string) => (amount === '0' ? null : amountCell(amount, currency));
  return formatTable(
    ['WHAT', 'ACCOUNT', 'DEBIT', 'CREDIT'],
    lines.map(({ account, debit, credit, currency }) => [
      describeAccount(account),
      account,
      cell(debit, currency),
      cell(credit, currency),
    ]),
    { colours, empty: 'nothing is booked', right: ['DEBIT', 'CREDIT'] },
  );
}
