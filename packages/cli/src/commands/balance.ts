import { displayAmount } from '@pesewa/kernel';
import { readWallet } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readCurrency } from '../arguments.ts';
import { findMerchant, openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';
import { requireWallet } from './money.ts';

/** Adds `balance`: the balances of a merchant's wallets in the ledger. */
export function addBalanceCommand(program: Command, ports: CliPorts): void {
  const balance = program
    .command('balance')
    .description("a merchant's wallets as the ledger has them")
    .argument('<merchant>', 'its id')
    .argument('[currency]', 'one currency (default: every wallet of the merchant)')
    .option('--json', 'print JSON')
    .action(
      async (
        id: string,
        currencyText: string | undefined,
        options: { readonly json?: boolean },
        command: Command,
      ) => {
        const context = await openContext(ports, command);
        const { withDirectory, operations } = context;
        const currencies =
          currencyText === undefined
            ? await withDirectory(async (admin) =>
                (await findMerchant(admin, id)).wallets.map(({ currency }) => currency),
              )
            : [readCurrency('currency', currencyText)];
        const accounts = await Promise.all(
          currencies.map((currency) => readWallet(operations, id, currency)),
        );
        // The ledger knows only wallets that have entries: one that has none may not exist at all.
        for (const { currency, sequence } of accounts)
          if (sequence === 0 && currencyText !== undefined) await requireWallet(context, id, currency);
        const rows = accounts.map(({ currency, available, held, sequence }) => [
          displayAmount(available, currency),
          displayAmount(held, currency),
          sequence,
        ]);
        const empty = `${id} has no wallets: to add one, see pesewa merchants set-wallet --help`;
        const heading = ['AVAILABLE', 'HELD', 'SEQUENCE'];
        ports.print(
          options.json
            ? formatJson(accounts)
            : formatTable(heading, rows, { colours: ports.colours, empty, right: heading }),
        );
      },
    );
  withExamples(balance, ['pesewa balance demo', 'pesewa balance demo GHS --json']);
}
