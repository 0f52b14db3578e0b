import type { BreakDetailView, BreakView } from '@pesewa/contracts';
import type { Command } from 'commander';
import { approveOption, readCount, readLine, refuseUnseen, seenOption } from '../arguments.ts';
import { approvalOf, breakDetails, breakSummary } from '../break-output.ts';
import type { BreakChange } from '../clients/breaks.ts';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson } from '../print.ts';
import { addAdjustCommand, addWithdrawCommand } from './reconcile-adjust.ts';
import { addExportCommand, addListCommand } from './reconcile-breaks-list.ts';

const TEXT_LENGTH_MAX = 500;

/** Adds `breaks …`: discrepancies, and what people do with them (ADR 70). */
export function addBreakCommands(reconcile: Command, ports: CliPorts): void {
  const breaks = reconcile
    .command('breaks')
    .description(
      'what differs between a rail, our books and our records; without a verb it lists what is not resolved',
    );
  addListCommand(breaks, ports);
  addShowCommand(breaks, ports);
  addAssignCommand(breaks, ports);
  addTextCommand(breaks, ports, {
    verb: 'note',
    description: 'adds a note to a break, also to a resolved one',
    argument: 'what is known',
    example: '"asked the rail, ticket 4711"',
    changeOf: (text) => ({ verb: 'notes', body: { text } }),
  });
  addTextCommand(breaks, ports, {
    verb: 'explain',
    description: 'explains why it differs; the break stays until its cause is gone, or somebody resolves it',
    argument: 'why it differs',
    example: '"a fee that the rail took twice"',
    changeOf: (explanation) => ({ verb: 'explain', body: { explanation } }),
  });
  addResolveCommand(breaks, ports);
  addTextCommand(breaks, ports, {
    verb: 'reject',
    description: 'ends a proposal to resolve a break, your own too; it can be resolved anew',
    argument: 'why not',
    example: '"ask the rail first"',
    changeOf:
      (reason) =>
      ({ version }) => ({ verb: 'reject', body: { reason, version } }),
  });
  addTextCommand(breaks, ports, {
    verb: 'reopen',
    description: 'opens a resolved break again, with its history',
    argument: 'why it is open after all',
    example: '"the rail took it back again"',
    changeOf: (reason) => ({ verb: 'reopen', body: { reason } }),
  });
  addAdjustCommand(breaks, ports);
  addWithdrawCommand(breaks, ports);
  addExportCommand(breaks, ports);
}

function addShowCommand(breaks: Command, ports: CliPorts): void {
  const show = breaks
    .command('show')
    .description('one break: what differs, who has it, its history, and where to read more')
    .argument('<id>', 'its id')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const found = await operations.breaks.show(id);
      ports.print(options.json ? formatJson(found) : breakDetails(found));
    });
  withExamples(show, [
    'pesewa reconcile breaks show po-0193e5c1/status',
    'pesewa reconcile breaks show upstream:GHS/balance --json',
  ]);
}

function addAssignCommand(breaks: Command, ports: CliPorts): void {
  const assign = breaks
    .command('assign')
    .description('gives a break to an operator, yourself or another')
    .argument('<id>', 'its id')
    .argument('<operator>', 'a name of OPERATORS')
    .option('--dry-run', 'show the break and change nothing')
    .option('--json', 'print JSON: the break as it is then')
    .action(async (id: string, operator: string, options: ChangeOptions, command: Command) => {
      await carryOut(ports, command, id, { verb: 'assign', body: { operator } }, options);
    });
  withExamples(assign, ['pesewa reconcile breaks assign po-0193e5c1/status ama']);
}

function addResolveCommand(breaks: Command, ports: CliPorts): void {
  const id = 'po-0193e5c1/status';
  const resolve = breaks
    .command('resolve')
    .description(
      'closes a break, or proposes to if it is of much money; if the next run finds the difference again, the break opens again with its history',
    )
    .argument('<id>', 'its id')
    .argument('[text]', `what became of it, in one line of at most ${TEXT_LENGTH_MAX} characters`)
    .addOption(approveOption('close it'))
    .addOption(seenOption('its version'))
    .option('--dry-run', 'show the break and change nothing')
    .option('--json', 'print JSON: the break as it is then')
    .action(
      async (
        id: string,
        text: string | undefined,
        { approve: approves, seen, ...options }: ChangeOptions & ApprovalOptions,
        called: Command,
      ) => {
        if ((text === undefined) === (approves === undefined))
          throw new CliError('say what became of it, or --approve whose words you approve');
        const resolution = text === undefined ? undefined : readLine('text', text, TEXT_LENGTH_MAX);
        const version = seen === undefined ? undefined : readCount('--seen', seen);
        if (approves !== undefined && version === undefined && !options.dryRun)
          return refuseApproval(ports, called, id, options);
        const change = { verb: 'resolve', body: { resolution, approves, version } } as const;
        return carryOut(ports, called, id, change, options);
      },
    );
  withExamples(resolve, [
    `pesewa reconcile breaks resolve ${id} "the rail paid it back on 2026-11-03"`,
    `pesewa reconcile breaks resolve ${id} --approve ama --seen 3`,
  ]);
}

interface ApprovalOptions {
  readonly approve?: string;
  readonly seen?: string;
}

async function refuseApproval(
  ports: CliPorts,
  command: Command,
  id: string,
  { json }: ChangeOptions,
): Promise<never> {
  const { breaks } = (await openContext(ports, command)).operations;
  const found = await breaks.show(id);
  if (found.resolutionProposedBy === null) throw new CliError(`id: nobody has proposed to resolve ${id}`);
  return refuseUnseen(ports, json ? formatJson(found) : breakDetails(found));
}

/** A change that decides about what was proposed: about the break that was seen, and no other. */
type ChangeOf = (seen: Pick<BreakView, 'version'>) => BreakChange;

interface ChangeOptions {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

function addTextCommand(
  breaks: Command,
  ports: CliPorts,
  what: {
    readonly verb: string;
    readonly description: string;
    readonly argument: string;
    readonly example: string;
    readonly changeOf: (text: string) => BreakChange | ChangeOf;
  },
): void {
  const command = breaks
    .command(what.verb)
    .description(what.description)
    .argument('<id>', 'its id')
    .argument('<text>', `${what.argument}, in one line of at most ${TEXT_LENGTH_MAX} characters`)
    .option('--dry-run', 'show the break and change nothing')
    .option('--json', 'print JSON: the break as it is then')
    .action(async (id: string, text: string, options: ChangeOptions, called: Command) => {
      const change = what.changeOf(readLine('text', text, TEXT_LENGTH_MAX));
      await carryOut(ports, called, id, change, options);
    });
  const id = 'po-0193e5c1/status';
  withExamples(command, [
    `pesewa reconcile breaks ${what.verb} ${id} ${what.example}`,
    `pesewa reconcile breaks ${what.verb} ${id} ${what.example} --dry-run`,
  ]);
}

async function carryOut(
  ports: CliPorts,
  command: Command,
  id: string,
  change: BreakChange | ChangeOf,
  { dryRun, json }: ChangeOptions,
): Promise<void> {
  const { breaks } = (await openContext(ports, command)).operations;
  const print = (found: BreakDetailView) => {
    const unchanged = dryRun ? 'nothing was changed\n' : '';
    const approval = approvalOf(found);
    const waits =
      approval === null
        ? ''
        : `it is of so much money that an approver must approve that, with ${approval}\n`;
    ports.print(json ? formatJson(found) : `${breakSummary(found)}${waits}${unchanged}`);
  };
  if (typeof change !== 'function')
    return print(dryRun ? await breaks.show(id) : await breaks.change(id, change));
  const seen = await breaks.show(id);
  if (!json) ports.print(breakDetails(seen));
  return print(dryRun ? seen : await breaks.change(id, change(seen)));
}
