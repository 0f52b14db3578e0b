import { formatCsv } from '@pesewa/contracts';
import { DAY_MS } from '@pesewa/kernel';
import { type Command, Option } from 'commander';
import { readDay, readTime, requireBefore } from '../arguments.ts';
import type { Statement } from '../clients/statements.ts';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import { describeAccount, inWords } from '../labels.ts';
import type { CliPorts } from '../ports.ts';
import { amountCell, formatJson, formatTable } from '../print.ts';

interface StatementOptions {
  readonly from?: string;
  readonly to?: string;
  readonly format: 'table' | 'csv' | 'json';
}

/** Adds `statement`: the entries of one account between two times (ADR 16). */
export function addStatementCommand(program: Command, ports: CliPorts): void {
  const statement = program
    .command('statement')
    .description('the entries of an account between two times, with its balance before and after them')
    .argument(
      '<account>',
      'wallet:<merchant>:<currency>, float:<rail>:<currency>, or feeIncome, railCost, treasury or suspense:<currency>',
    )
    .option('--from <time>', 'a date or a time with its zone (default: today, UTC)')
    .option('--to <time>', 'a date, which counts whole, or a time, which does not (default: today, UTC)')
    .addOption(
      new Option('--format <format>', 'how it is printed').choices(['table', 'csv', 'json']).default('table'),
    )
    .action(async (account: string, options: StatementOptions, command: Command) => {
      const period = periodOf(options, ports.clock.nowMs());
      const { operations } = await openContext(ports, command);
      const found = await operations.statements.of({ account, ...period });
      ports.print(format(found, options.format, ports.colours));
    });
  withExamples(statement, [
    'pesewa statement wallet:demo:GHS',
    'pesewa statement wallet:demo:GHS --from 2026-11-01 --to 2026-11-30',
    'pesewa statement float:upstream:GHS --from 2026-11-01T08:00:00Z --format csv',
    'pesewa statement feeIncome:GHS --from 2026-01-01 --format json',
  ]);
}

/**
 * From the start of the first day, or the first time, to the end of the last day, or the last time; `to` itself is
 * excluded.
 */
function periodOf(options: StatementOptions, nowMs: number): { readonly from: Date; readonly to: Date } {
  const today = new Date(nowMs - (nowMs % DAY_MS)).toISOString().slice(0, 10);
  const fromText = options.from ?? today;
  const from = readTime('--from', fromText);
  const toText = options.to ?? today;
  const lastDay = readDay(toText);
  const to = lastDay ? new Date(lastDay.getTime() + DAY_MS) : readTime('--to', toText);
  requireBefore(from, to, fromText, toText);
  return { from, to };
}

function format(statement: Statement, as: StatementOptions['format'], colours: boolean): string {
  switch (as) {
    case 'json':
      return formatJson(statement);
    case 'csv': {
      const { heading, rows } = grid(statement);
      return formatCsv(
        heading,
        rows.map((row) => row.map((cell) => cell ?? '')),
      );
    }
    case 'table': {
      const { heading, rows, money } = grid(statement);
      const { account, currency, from, to, final } = statement;
      const shown = rows.map(([at, kind, reference, , ...amounts]) => [
        at,
        inWords(kind ?? ''),
        reference,
        ...amounts.map((amount) => amountCell(amount, currency)),
      ]);
      const columns = heading.filter((name) => name !== 'CURRENCY');
      const more = final ? '' : '\nnot final: entries of this time may still come\n';
      const table = formatTable(columns, shown, { colours, empty: 'no entries', right: money });
      return `${describeAccount(account)}, from ${from} to ${to}\n\n${table}${more}`;
    }
    default:
      throw new TypeError(`no such format: ${JSON.stringify(as satisfies never)}`);
  }
}

/**
 * The statement as rows: the opening balance, each entry with its amounts and the balance after it, the closing
 * balance.
 */
function grid({ opening, closing, items, from, to, currency }: Statement) {
  const names = Object.keys(opening);
  const left = names.map((name) => name.toUpperCase());
  const money = [...left.map((name) => `${name} MOVED`), ...left];
  const unmoved = names.map(() => null);
  const of = (sums: Statement['opening']) => names.map((name) => sums[name]);
  const rows: readonly (readonly (string | null | undefined)[])[] = [
    [from, 'opening', null, currency, ...unmoved, ...of(opening)],
    ...items.map((item) => [
      item.at,
      item.kind,
      item.reference,
      currency,
      ...of(item.amount),
      ...of(item.balance),
    ]),
    [to, 'closing', null, currency, ...unmoved, ...of(closing)],
  ];
  return { heading: ['AT', 'KIND', 'REFERENCE', 'CURRENCY', ...money], rows, money };
}
