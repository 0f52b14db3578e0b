import { type BreakView, breakChanges, breakOperations, type ShownBreakView } from '@pesewa/contracts';
import { type Command, Option } from 'commander';
import { formatOf, formatOption, readCount, readCurrency, refuseUnseen } from '../arguments.ts';
import { approvalOf, breakDetails, breakSummary, breaksCsv } from '../break-output.ts';
import { begin, type Called, onCall } from '../declared.ts';
import { CliError } from '../errors.ts';
import { addAct, addList, addShow } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson } from '../print.ts';
import { addAdjustCommand } from './reconcile-adjust.ts';

const EXAMPLE = 'po-0193e5c1/status';
const service = 'reconciler';
const SEEN_VERSION = 'what you have read and approve, by its version: nothing else is approved';

/** Adds `breaks …`: discrepancies, and what people do with them (ADR 70). */
export function addBreakCommands(reconcile: Command, ports: CliPorts): void {
  const breaks = reconcile
    .command('breaks')
    .description(
      'what differs between a rail, our books and our records; without a verb it lists what is not resolved',
    );
  addListCommand(breaks, ports);
  addShow(breaks, ports, {
    name: 'show',
    operation: breakOperations.show,
    service,
    description: 'one break: what differs, who has it, its history, and where to read more',
    text: breakDetails,
    examples: [EXAMPLE, 'upstream:GHS/balance --json'],
  });
  addChange(breaks, ports, 'assign', 'assign', 'operator', 'ama');
  addChange(breaks, ports, 'note', 'notes', 'text', '"asked the rail, ticket 4711"');
  addChange(breaks, ports, 'explain', 'explain', 'explanation', '"a fee that the rail took twice"');
  addResolveCommand(breaks, ports);
  addRejectCommand(breaks, ports);
  addChange(breaks, ports, 'reopen', 'reopen', 'reason', '"the rail took it back again"');
  addAdjustCommand(breaks, ports);
  addExportCommand(breaks, ports);
}

const filters = {
  service,
  usually: { status: ['unresolved', 'all'] },
  read: { currency: readCurrency },
} as const;

function addListCommand(breaks: Command, ports: CliPorts): void {
  addList(breaks, ports, {
    ...filters,
    name: 'list',
    isDefault: true,
    operation: breakOperations.list,
    columns: [['BREAK', ({ id }) => id], 'status', 'amount', 'rail', 'owner', 'since', 'detail'],
    empty: 'no such breaks',
    more: (_, hasMore) =>
      hasMore
        ? 'there are more: raise --limit, or write all of them with pesewa reconcile breaks export breaks.csv'
        : undefined,
    text: (items, { csv }) => (csv ? breaksCsv(items) : undefined),
    examples: [
      '',
      '--status open --older-than 1d',
      '--kind wallet.drift --rail upstream --status all --json',
      '--owner ama --limit 500 --csv',
    ],
  }).addOption(new Option('--csv', 'print CSV').conflicts('json'));
}

function addExportCommand(breaks: Command, ports: CliPorts): void {
  const spec = {
    ...filters,
    name: 'export',
    operation: breakOperations.export,
    description: 'writes breaks to a file, however many there are',
    without: ['format'],
    examples: ['breaks.csv', 'november.json --status all --older-than 30d'],
  };
  const command = begin(breaks, spec)
    .argument('<file>', 'its path; an existing file is replaced once the new one is complete')
    .addOption(formatOption());
  onCall(command, ports, spec, async ({ context, given, options, words: [file = ''] }) => {
    const format = formatOf(file, options['format'] as 'csv' | 'json' | undefined);
    await context.operations.save(service, spec.operation, { query: { ...given, format } }, file);
    ports.print(`the breaks are in ${file}\n`);
  });
}

/** What is printed of a break that was changed. */
function changed(found: BreakView): string {
  const approval = approvalOf(found);
  const waits =
    approval === null ? '' : `it is of so much money that an approver must approve that, with ${approval}\n`;
  return `${breakSummary(found)}${waits}`;
}

const readBreak = ({ context, given }: Called): Promise<ShownBreakView> =>
  context.operations.call(service, breakOperations.show, { parameters: { id: String(given['id']) } });

/** What every change of a break has: a dry run that shows the break, and the break as it is then. */
const changing = {
  service,
  said: changed,
  dryRun: [
    async (called: Called) => {
      const answer = await readBreak(called);
      return { answer, text: changed(answer) };
    },
    'changed',
  ],
} as const;

function addChange(
  breaks: Command,
  ports: CliPorts,
  name: string,
  verb: 'assign' | 'notes' | 'explain' | 'reopen',
  field: string,
  example: string,
): void {
  addAct(breaks, ports, {
    ...changing,
    name,
    operation: breakChanges[verb],
    ...(verb === 'explain' && {
      description:
        'explains why it differs; the break stays until its cause is gone, or somebody resolves it',
    }),
    arguments: [field],
    names: field === 'operator' ? {} : { [field]: 'text' },
    without: ['version'],
    examples: [`${EXAMPLE} ${example}`, `${EXAMPLE} ${example} --dry-run`],
  });
}

function addResolveCommand(breaks: Command, ports: CliPorts): void {
  addAct(breaks, ports, {
    ...changing,
    name: 'resolve',
    operation: breakChanges.resolve,
    description:
      'closes a break, or proposes to if it is of much money; if the next run finds the difference again, the break opens again with its history',
    arguments: ['[resolution]'],
    names: { resolution: 'text', approves: 'approve', version: 'seen' },
    help: { approves: 'close it, as this operator has proposed', version: SEEN_VERSION },
    read: { version: readCount },
    complete: (given) => {
      if ((given['resolution'] === undefined) === (given['approves'] === undefined))
        throw new CliError('say what became of it, or --approve whose words you approve');
      return given;
    },
    before: async (called) => {
      const { given, options } = called;
      if (given['approves'] === undefined || given['version'] !== undefined) return given;
      const found = await readBreak(called);
      if (!found.proposedResolution) throw new CliError(`id: nobody has proposed to resolve ${found.id}`);
      return refuseUnseen(ports, options['json'] ? formatJson(found) : breakDetails(found));
    },
    examples: [`${EXAMPLE} "the rail paid it back on 2026-11-03"`, `${EXAMPLE} --approve ama --seen 3`],
  });
}

function addRejectCommand(breaks: Command, ports: CliPorts): void {
  addAct(breaks, ports, {
    ...changing,
    name: 'reject',
    operation: breakChanges.reject,
    description: 'ends a proposal to resolve a break, your own too; it can be resolved anew',
    arguments: ['reason'],
    names: { reason: 'text' },
    without: ['version'],
    before: async (called) => {
      const seen = await readBreak(called);
      if (!called.options['json']) ports.print(breakDetails(seen));
      return { ...called.given, version: seen.version };
    },
    dryRun: [
      async (called) => {
        const answer = await readBreak(called);
        return { answer, text: `${breakDetails(answer)}${changed(answer)}` };
      },
      'changed',
    ],
    examples: [`${EXAMPLE} "ask the rail first"`, `${EXAMPLE} "ask the rail first" --dry-run`],
  });
}
