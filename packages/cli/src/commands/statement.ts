import { formatCsv, growsByDebits } from '@pesewa/contracts';
import { dayAt, describeAccount, inWords, nextDay, showTime, startOfDay, UTC } from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { readCurrency, readDay, readTime, requireBefore } from '../arguments.ts';
import { createStatements, type Statement } from '../clients/statements.ts';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { amountCell, formatJson, formatTable } from '../print.ts';
import { readZone, zoneOption } from '../time-zones.ts';

/**
 * A statement as it is shown: each entry with the other account that it touches, null if it stays within this one, and with
 * the merchant's own reference of its payment, null if that is not known.
 */
interface ShownStatement extends Statement {
  readonly items: (Statement['items'][number] & {
    readonly counterAccount: string | null;
    readonly merchantReference: string | null;
  })[];
}

interface StatementOptions {
  readonly from?: string;
  readonly to?: string;
  readonly tz: string;
  readonly format: 'table' | 'csv' | 'json';
}

/** Adds `statement`: the entries of one account between two times (ADR 16). */
export function addStatementCommand(program: Command, ports: CliPorts): void {
  const statement = program
    .command('statement')
    .description('the entries of an account between two times, with its balance before and after them')
    .argument(
      '<account>',
      'a merchant, with the currency of its wallet; or wallet:<merchant>:<currency>, float:<rail>:<currency>, or feeIncome, railCost, treasury or suspense:<currency>',
    )
    .argument('[currency]', 'of a wallet, where a merchant is named')
    .option('--from <time>', 'a date or a time with its zone (default: today)')
    .option('--to <time>', 'a date, which counts whole, or a time, which does not (default: today)')
    .addOption(zoneOption())
    .addOption(
      new Option('--format <format>', 'how it is printed').choices(['table', 'csv', 'json']).default('table'),
    )
    .action(
      async (named: string, currency: string | undefined, options: StatementOptions, command: Command) => {
        const account =
          currency === undefined ? named : `wallet:${named}:${readCurrency('currency', currency)}`;
        const zone = readZone(options.tz);
        const period = periodOf(options, zone, ports.clock.nowMs());
        const { operations } = await openContext(ports, command);
        const statements = createStatements(ports, operations);
        const found = await statements.of({ account, ...period });
        const { known, missing } = await statements.merchantReferences(
          found.items.map(({ reference }) => reference),
        );
        for (const why of missing) ports.printError(`${why}: merchants' references are left out\n`);
        const items = found.items.map((item) => ({
          ...item,
          counterAccount: [item.debit, item.credit].find((one) => !isOf(one, found.account)) ?? null,
          merchantReference: known.get(item.reference) ?? null,
        }));
        ports.print(format({ ...found, items }, options.format, zone, ports.colours));
      },
    );
  withExamples(statement, [
    'pesewa statement demo GHS',
    'pesewa statement wallet:demo:GHS --from 2026-11-01 --to 2026-11-30',
    'pesewa statement wallet:demo:KES --from 2026-11-01 --to 2026-11-30 --tz Africa/Nairobi',
    'pesewa statement float:upstream:GHS --from 2026-11-01T08:00:00Z --format csv',
    'pesewa statement feeIncome:GHS --from 2026-01-01 --format json',
  ]);
}

/**
 * From the start of the first day, or the first time, to the end of the last day, or the last time; `to` itself is
 * excluded.
 */
function periodOf(
  options: StatementOptions,
  zone: string,
  nowMs: number,
): { readonly from: Date; readonly to: Date } {
  const today = dayAt(nowMs, zone);
  const fromText = options.from ?? today;
  const from = readTime('--from', fromText, zone);
  const toText = options.to ?? today;
  const to = readDay(toText) ? startOfDay(nextDay(toText), zone) : readTime('--to', toText);
  requireBefore(from, to, fromText, toText);
  return { from, to };
}

function format(
  statement: ShownStatement,
  as: StatementOptions['format'],
  zone: string,
  colours: boolean,
): string {
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
      const shown = rows.map(([at, kind, reference, theirs, counter, , ...amounts]) => [
        showTime(at ?? '', zone),
        inWords(kind ?? ''),
        reference,
        theirs,
        counter && describeAccount(counter),
        ...amounts.map((amount) => amountCell(amount, currency)),
      ]);
      const columns = heading.filter((name) => name !== 'CURRENCY');
      const more = final ? '' : '\nnot final: entries of this time may still come\n';
      const table = formatTable(columns, shown, { colours, empty: 'no entries', right: money });
      const [first, last] = [showTime(from, zone), showTime(to, zone)];
      return `${describeAccount(account)}, from ${first} to ${last}${zone === UTC ? '' : `, ${zone}`}\n${meaningOf(account)}\n\n${table}${more}`;
    }
    default:
      throw new TypeError(`no such format: ${JSON.stringify(as satisfies never)}`);
  }
}

/** Whether an entry's account is that of a statement, or one of the two of its wallet. */
function isOf(account: string, stated: string): boolean {
  return account === stated || account.startsWith(`${stated}:`);
}

/** What the signs of an account mean. */
function meaningOf(account: string): string {
  return growsByDebits(account)
    ? 'positive amounts are debits: what we own or spent'
    : 'positive amounts are credits: what we owe or earned';
}

/**
 * The statement as rows: the opening balance, each entry with its amounts and the balance after it, the closing
 * balance.
 */
function grid({ opening, closing, items, from, to, currency }: ShownStatement) {
  const names = Object.keys(opening);
  const left = names.map((name) => name.toUpperCase());
  const money = [...left.map((name) => `${name} MOVED`), ...left];
  const unmoved = names.map(() => null);
  const of = (sums: Statement['opening']) => names.map((name) => sums[name]);
  const rows: readonly (readonly (string | null | undefined)[])[] = [
    [from, 'opening', null, null, null, currency, ...unmoved, ...of(opening)],
    ...items.map((item) => [
      item.at,
      item.kind,
      item.reference,
      item.merchantReference,
      item.counterAccount,
      currency,
      ...of(item.amount),
      ...of(item.balance),
    ]),
    [to, 'closing', null, null, null, currency, ...unmoved, ...of(closing)],
  ];
  const fixed = ['AT', 'KIND', 'REFERENCE', 'MERCHANT REFERENCE', 'COUNTER-ACCOUNT', 'CURRENCY'];
  return { heading: [...fixed, ...money], rows, money };
}
