import { type BreakFilters, type BreakView, breakStatuses } from '@pesewa/contracts';
import { type Command, Option } from 'commander';
import { asList, formatOf, formatOption, readCount } from '../arguments.ts';
import { breaksCsv, breaksTable } from '../break-output.ts';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson } from '../print.ts';

interface FilterOptions extends Omit<BreakFilters, 'status' | 'waitsForApproval'> {
  readonly waitsForApproval?: true;
  readonly status: BreakView['status'] | 'unresolved' | 'all';
}

function addFilters(command: Command): Command {
  return command
    .addOption(
      new Option('--status <status>', 'only those with this status')
        .choices([...breakStatuses, 'unresolved', 'all'])
        .default('unresolved'),
    )
    .option(
      '--reference <reference>',
      'only those of one payment, by our transactionReference, or of one wallet',
    )
    .option('--kind <kind>', 'only those of a kind, such as wallet.drift')
    .option('--rail <rail>', 'only those of a rail')
    .option('--currency <currency>', 'only those in a currency')
    .option('--owner <operator>', 'only those that an operator has')
    .option('--waits-for-approval', 'only those whose resolution an approver must approve')
    .option(
      '--older-than <age>',
      'only those opened longer ago than minutes, hours or days, such as 90m, 12h or 7d',
    );
}

function filtersOf({
  status,
  reference,
  kind,
  rail,
  currency,
  owner,
  olderThan,
  waitsForApproval,
}: FilterOptions): BreakFilters {
  if (olderThan !== undefined && !/^\d{1,5}[mhd]$/.test(olderThan)) {
    throw new CliError(
      `--older-than: ${olderThan} is no age: write minutes, hours or days, such as 90m, 12h or 7d`,
    );
  }
  const narrowed = { reference, kind, rail, currency: currency?.toUpperCase(), owner, olderThan };
  return {
    ...(status !== 'all' && { status }),
    ...narrowed,
    ...(waitsForApproval && { waitsForApproval: 'true' }),
  };
}

/** Adds `breaks list`: a page of breaks, narrowed by filters. */
export function addListCommand(breaks: Command, ports: CliPorts): void {
  const described = breaks.command('list', { isDefault: true });
  const list = asList(addFilters(described.description('breaks, those first that were opened last')))
    .addOption(new Option('--csv', 'print CSV').conflicts('json'))
    .action(
      async (
        options: FilterOptions & { readonly limit: string; readonly json?: boolean; readonly csv?: boolean },
        command: Command,
      ) => {
        const limit = readCount('--limit', options.limit);
        const filters = filtersOf(options);
        const { operations } = await openContext(ports, command);
        const { items, hasMore } = await operations.breaks.list(filters, limit);
        if (options.json) ports.print(formatJson(items));
        else if (options.csv) ports.print(breaksCsv(items));
        else {
          const more =
            'there are more: raise --limit, or write all of them with pesewa reconcile breaks export breaks.csv\n';
          ports.print(`${breaksTable(items, ports.colours)}${hasMore ? more : ''}`);
        }
      },
    );
  withExamples(list, [
    'pesewa reconcile breaks list',
    'pesewa reconcile breaks list --status open --older-than 1d',
    'pesewa reconcile breaks list --kind wallet.drift --rail upstream --status all --json',
    'pesewa reconcile breaks list --owner ama --limit 500 --csv',
  ]);
}

/** Adds `breaks export`: all of them, in a file. */
export function addExportCommand(breaks: Command, ports: CliPorts): void {
  const exporting = addFilters(
    breaks
      .command('export')
      .description('writes breaks to a file, however many there are')
      .argument('<file>', 'its path; an existing file is replaced once the new one is complete'),
  )
    .addOption(formatOption())
    .action(
      async (
        file: string,
        options: FilterOptions & { readonly format?: 'csv' | 'json' },
        command: Command,
      ) => {
        const filters = filtersOf(options);
        const { operations } = await openContext(ports, command);
        await operations.breaks.export(filters, formatOf(file, options.format), file);
        ports.print(`the breaks are in ${file}\n`);
      },
    );
  withExamples(exporting, [
    'pesewa reconcile breaks export breaks.csv',
    'pesewa reconcile breaks export november.json --status all --older-than 30d',
  ]);
}
