import { type ChangeView, settingsOperations } from '@pesewa/contracts';
import { settingLabel } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { addList, addShow } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';
import { approvedText, details, summary } from '../settings-changes.ts';
import { addDecidingCommands } from './proposals.ts';

/** Adds `settings …`: changes of merchants' settings, and the second operator's decisions (ADR 80). */
export function addSettingsCommands(program: Command, ports: CliPorts): void {
  const settings = program
    .command('settings')
    .description("changes of merchants' settings, and who approves them");
  const service = 'ledger';
  addList(settings, ports, {
    name: 'list',
    operation: settingsOperations.list,
    service,
    columns: [
      ['CHANGE', ({ id }) => id],
      'status',
      ['MERCHANT', ({ merchantId }) => merchantId],
      'kind',
      ['OF', whatOf],
      'requestedBy',
      'requestedAt',
      ['DECIDED BY', ({ approvedBy, rejectedBy }) => approvedBy ?? rejectedBy],
    ],
    empty: 'no such changes',
    examples: ['', '--status proposed', '--merchant demo --limit 500 --json'],
  });
  addShow(settings, ports, {
    name: 'show',
    operation: settingsOperations.show,
    service,
    text: details,
    examples: ['sc-0193e5c1', 'sc-0193e5c1 --json'],
  });
  addDecidingCommands<ChangeView>(settings, ports, {
    operations: settingsOperations,
    service,
    exampleId: 'sc-0193e5c1',
    approving: 'applies the change that another operator proposed',
    rejecting: 'ends a proposal for good, your own too; nothing changes',
    exampleReason: 'not agreed with the merchant',
    approved: approvedText,
    details,
    summary,
  });
}

/** The first setting that a change is about, and how many others. */
function whatOf({ fields }: ChangeView): string {
  const [first, ...more] = fields;
  const name = first === undefined ? '' : settingLabel(first.field);
  return more.length === 0 ? name : `${name} and ${more.length} more`;
}
