import { type ChangeView, changeStatuses } from '@pesewa/contracts';
import { inWords, settingLabel } from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { asList, readCount } from '../arguments.ts';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';
import { approvedText, details, summary } from '../settings-changes.ts';
import { addDecidingCommands, type ProposalKind } from './proposals.ts';

/** Adds `settings …`: changes of merchants' settings, and the second operator's decisions (ADR 80). */
export function addSettingsCommands(program: Command, ports: CliPorts): void {
  const settings = program
    .command('settings')
    .description("changes of merchants' settings, and who approves them");
  addListCommand(settings, ports);
  addShowCommand(settings, ports);
  addDecidingCommands(settings, ports, deciding);
}

const deciding: ProposalKind<ChangeView> = {
  noun: 'change',
  exampleId: 'sc-0193e5c1',
  approving: 'applies the change that another operator proposed',
  rejecting: 'ends a proposal for good, your own too; nothing changes',
  exampleReason: 'not agreed with the merchant',
  of: ({ operations }) => operations.settings,
  approve: async ({ ports, operations }, id) => {
    ports.print(approvedText(await operations.settings.approve(id)));
  },
  details,
  summary,
};

function addListCommand(settings: Command, ports: CliPorts): void {
  const list = asList(settings.command('list'))
    .description('the newest changes, with who asked and who decided')
    .option('--merchant <merchant>', 'only those of one merchant')
    .addOption(new Option('--status <status>', 'only those with this status').choices(changeStatuses))
    .action(
      async (
        options: {
          readonly merchant?: string;
          readonly status?: ChangeView['status'];
          readonly limit: string;
          readonly json?: boolean;
        },
        command: Command,
      ) => {
        const limit = readCount('--limit', options.limit);
        const { operations } = await openContext(ports, command);
        const found = await operations.settings.list(
          { merchant: options.merchant, status: options.status },
          limit,
        );
        ports.print(options.json ? formatJson(found) : table(found, ports.colours));
      },
    );
  withExamples(list, [
    'pesewa settings list',
    'pesewa settings list --status proposed',
    'pesewa settings list --merchant demo --limit 500 --json',
  ]);
}

function addShowCommand(settings: Command, ports: CliPorts): void {
  const show = settings
    .command('show')
    .description('one change: from what to what, who asked, who decided')
    .argument('<id>', 'its id')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const change = await operations.settings.show(id);
      ports.print(options.json ? formatJson(change) : details(change));
    });
  withExamples(show, ['pesewa settings show sc-0193e5c1', 'pesewa settings show sc-0193e5c1 --json']);
}

function table(changes: readonly ChangeView[], colours: boolean): string {
  return formatTable(
    ['CHANGE', 'STATUS', 'MERCHANT', 'KIND', 'OF', 'ASKED FOR BY', 'AT', 'DECIDED BY'],
    changes.map((change) => [
      change.id,
      change.status,
      change.merchantId,
      inWords(change.kind),
      whatOf(change),
      change.requestedBy,
      change.requestedAt,
      change.approvedBy ?? change.rejectedBy,
    ]),
    { colours, empty: 'no such changes' },
  );
}

/** The first setting that a change is about, and how many others. */
function whatOf({ fields }: ChangeView): string {
  const [first, ...more] = fields;
  const name = first === undefined ? '' : settingLabel(first.field);
  return more.length === 0 ? name : `${name} and ${more.length} more`;
}
