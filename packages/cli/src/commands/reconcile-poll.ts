import { pollOperations } from '@pesewa/contracts';
import type { Command } from 'commander';
import { withExitCodes } from '../help.ts';
import { addAct } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';

/** Adds `poll`: asks the rail about one open payment without waiting for its next poll. */
export function addPollCommand(parent: Command, ports: CliPorts): void {
  const poll = addAct(parent, ports, {
    name: 'poll',
    operation: pollOperations.poll,
    service: 'reconciler',
    description: 'asks the rail about an open payment now; its later polls follow from this one',
    arguments: ['reference'],
    help: { reference: 'our transactionReference' },
    said: ({ reference }) => `${reference} is polled now; what comes of it: pesewa timeline ${reference}\n`,
    examples: ['po-0193e5c1'],
  });
  withExitCodes(poll, '1 if no payment with this reference is known, or it has ended.');
}
