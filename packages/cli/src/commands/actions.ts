import { actionOperations, messagingServices } from '@pesewa/contracts';
import type { Command } from 'commander';
import { addList } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';

/** Adds `actions`: what operators did at all services. */
export function addActionsCommand(program: Command, ports: CliPorts): void {
  addList(program, ports, {
    name: 'actions',
    operation: actionOperations.list,
    service: messagingServices,
    names: { operator: 'by' },
    columns: [
      'at',
      'operator',
      'service',
      ['DID', ({ operation }) => operation],
      ['ABOUT', ({ objects }) => objects.join(', ')],
      ['ANSWER', ({ status }) => status ?? 'none: it may have taken effect'],
    ],
    empty: 'nobody did anything yet',
    newest: ({ at }) => at,
    examples: [
      '',
      '--by ama --limit 200',
      '--from 2026-11-20 --to 2026-11-21',
      '--object po-0193e5c1b6f27c3a8e1d5f4a9b0c7d21 --json',
    ],
  });
}
