import { pollOperations } from '@pesewa/contracts';
import type { Command } from 'commander';
import { readReference } from '../arguments.ts';
import { openContext } from '../context.ts';
import { pathOf, withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';

/** Adds `poll`: asks the rail about one open payment without waiting for its next poll. */
export function addPollCommand(parent: Command, ports: CliPorts): void {
  const poll = parent
    .command('poll')
    .description('asks the rail about an open payment now; its later polls follow from this one')
    .argument('<reference>', 'our transactionReference')
    .action(async (text: string, _options: object, command: Command) => {
      const reference = readReference('reference', text);
      const { operations } = await openContext(ports, command);
      await operations.call('reconciler', pollOperations.poll, { body: { reference } });
      ports.print(`${reference} is polled now; what comes of it: pesewa timeline ${reference}\n`);
    });
  withExamples(poll, [`${pathOf(poll)} po-0193e5c1`]);
  withExitCodes(poll, '1 if no payment with this reference is known, or it has ended.');
}
