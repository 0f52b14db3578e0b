import { callbackOperations } from '@pesewa/contracts';
import { inWords } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { addAct, addList } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';

/** Adds `callbacks …`: the rails' callbacks, those that could not be read, and those that were refused. */
export function addCallbackCommands(program: Command, ports: CliPorts): void {
  const callbacks = program
    .command('callbacks')
    .description('what rails reported to us; with a reference, for that payment alone');
  const service = 'webhook-ingress';
  const listed = {
    operation: callbackOperations.list,
    service,
    columns: [
      ['CALLBACK', ({ id }: { readonly id: string }) => id],
      'rail',
      'state',
      'reference',
      ['CLAIMS', ({ claimedStatus }: { readonly claimedStatus: string | null }) => claimedStatus],
      'claimedAmount',
      [
        'PROOF',
        ({ verdict }: { readonly verdict: { readonly proven: boolean; readonly signature: string } }) =>
          verdict.proven ? 'proven' : inWords(verdict.signature),
      ],
      'deliveries',
      'receivedAt',
      'failure',
    ],
    empty: 'no such callbacks',
  } as const;
  addList(callbacks, ports, {
    ...listed,
    name: 'about',
    isDefault: true,
    description: 'the callbacks of one payment, the oldest first',
    arguments: ['reference'],
    without: ['state'],
    examples: ['po-0193e5c1', 'co-0193e5c1 --json'],
  });
  addList(callbacks, ports, {
    ...listed,
    name: 'failed',
    description: 'the callbacks that we could not read: fix what broke, then redrive or dismiss them',
    without: ['reference', 'state'],
    complete: () => ({ state: 'failed' }),
    examples: ['', '--limit 500 --json'],
  });
  addList(callbacks, ports, {
    name: 'rejected',
    operation: callbackOperations.rejected,
    service,
    columns: [
      ['REQUEST', ({ id }) => id],
      'rail',
      'kind',
      'reason',
      ['SENDER', ({ clientAddress }) => clientAddress],
      ['CONNECTION FROM', ({ peerAddress }) => peerAddress],
      'forwardedFor',
      'receivedAt',
    ],
    empty: 'nothing was refused',
    examples: ['', '--rail upstream --reason address.unlisted'],
  });
  for (const name of ['redrive', 'dismiss'] as const) {
    addAct(callbacks, ports, {
      name,
      operation: callbackOperations[name],
      service,
      said: ({ state }, { id }) => `${inWords(state)} ${String(id)}\n`,
      examples: ['cb-0193e5c1'],
    });
  }
}
