import type { Command } from 'commander';
import { readCurrency } from '../arguments.ts';
import { findMerchant, openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { type Cell, formatJson, formatTable } from '../print.ts';

type Item = Readonly<Record<string, unknown>>;

const jsonOption = ['--json', 'print JSON'] as const;

/** Headings and the fields below them. */
const driftColumns = {
  AT: 'at',
  RAIL: 'rail',
  CURRENCY: 'currency',
  'AT THE RAIL': 'railBalance',
  FLOAT: 'float',
  DRIFT: 'drift',
  EXPLAINED: 'explained',
};

const timelineColumns = { AT: 'at', WHAT: 'what', DETAIL: 'detail', TIMES: 'times' };

/** Adds `balance`, `drift` and `timeline`: what the ledger and the reconciler know. */
export function addShowCommands(program: Command, ports: CliPorts): void {
  addBalanceCommand(program, ports);
  addDriftCommand(program, ports);
  addTimelineCommand(program, ports);
}

function addBalanceCommand(program: Command, ports: CliPorts): void {
  const balance = program
    .command('balance')
    .description("a merchant's wallets as the ledger has them")
    .argument('<merchant>', 'its id')
    .argument('[currency]', 'one currency; every wallet of the merchant without')
    .option(...jsonOption)
    .action(
      async (
        id: string,
        currencyText: string | undefined,
        options: { readonly json?: boolean },
        command: Command,
      ) => {
        const { withDirectory, operations } = await openContext(ports, command);
        const currencies =
          currencyText === undefined
            ? await withDirectory(async (admin) =>
                (await findMerchant(admin, id)).wallets.map(({ currency }) => currency),
              )
            : [readCurrency('currency', currencyText)];
        const accounts = await Promise.all(currencies.map((currency) => operations.account(id, currency)));
        const rows = accounts.map((account) => [
          account.currency,
          account.available,
          account.held,
          account.sequence,
        ]);
        const empty = `${id} has no wallets: add one with merchants set-wallet`;
        const heading = ['CURRENCY', 'AVAILABLE', 'HELD', 'SEQUENCE'];
        const right = heading.slice(1);
        ports.print(
          options.json
            ? formatJson(accounts)
            : formatTable(heading, rows, { colours: ports.colours, empty, right }),
        );
      },
    );
  withExamples(balance, ['pesewa balance demo', 'pesewa balance demo GHS --json']);
}

function addDriftCommand(program: Command, ports: CliPorts): void {
  const drift = program
    .command('drift')
    .description("the newest comparison of each rail's wallet with our float")
    .option(...jsonOption)
    .action(async (options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const items = await operations.drift();
      const rows = items.map((item) => ({ ...item, explained: item['withinRange'] === true ? 'yes' : 'NO' }));
      const empty = 'no comparison yet: the reconciler makes one by itself';
      const shown = { colours: ports.colours, empty, right: ['AT THE RAIL', 'FLOAT', 'DRIFT'] };
      ports.print(options.json ? formatJson(items) : formatItems(driftColumns, rows, shown));
    });
  withExamples(drift, ['pesewa drift', 'pesewa drift --json']);
}

function addTimelineCommand(program: Command, ports: CliPorts): void {
  const timeline = program
    .command('timeline')
    .description('what the reconciler has seen of a payment, oldest first')
    .argument('<reference>', "our transactionReference, not the merchant's")
    .option(...jsonOption)
    .action(async (reference: string, options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const items = await operations.timeline(reference);
      const shown = { colours: ports.colours, empty: 'nothing seen yet' };
      ports.print(options.json ? formatJson(items) : formatItems(timelineColumns, items, shown));
    });
  withExamples(timeline, ['pesewa timeline po-0193e5c1', 'pesewa timeline co-0193e5c1 --json']);
}

function formatItems(
  columns: Readonly<Record<string, string>>,
  items: readonly Item[],
  options: { readonly colours: boolean; readonly empty: string; readonly right?: readonly string[] },
): string {
  const rows = items.map((item) => Object.values(columns).map((key) => cellOf(item[key])));
  return formatTable(Object.keys(columns), rows, options);
}

function cellOf(value: unknown): Cell {
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}
