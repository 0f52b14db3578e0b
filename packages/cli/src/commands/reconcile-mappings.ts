import { statementMappingOperations } from '@pesewa/contracts';
import type { Command } from 'commander';
import { openContext } from '../context.ts';
import { begin, onCall } from '../declared.ts';
import { withExamples } from '../help.ts';
import { addList } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson } from '../print.ts';
import { readMappingFile } from './reconcile-match.ts';

/** Adds `mappings …`: how rails write their statements, kept under names. */
export function addMappingCommands(reconcile: Command, ports: CliPorts): void {
  const mappings = reconcile
    .command('mappings')
    .description('how rails write their statements, kept under names; without a verb it lists them');
  const service = 'reconciler';
  const { list, show, put } = statementMappingOperations;
  addList(mappings, ports, {
    name: 'list',
    isDefault: true,
    operation: list,
    service,
    columns: ['name', ['KEPT BY', ({ by }) => by]],
    empty: 'no mapping is kept',
    examples: [''],
  });
  const shown = {
    name: 'show',
    operation: show,
    service,
    description: 'a mapping as JSON, which can be changed and kept again',
    examples: ['upstream-daily'],
  } as const;
  onCall(begin(mappings, shown), ports, shown, async ({ context, given }) => {
    const parameters = { name: String(given['name']) };
    const { mapping } = await context.operations.call(service, show, { parameters });
    ports.print(formatJson(mapping));
  });
  const kept = mappings
    .command('keep')
    .description(
      'keeps a mapping under a name, in place of the one before; statements keep the one they were read by',
    )
    .argument('<name>', 'the name: a-z, 0-9 and -')
    .argument('<file>', 'the mapping as JSON')
    .action(async (name: string, file: string, _: object, command: Command) => {
      const body = await readMappingFile(file);
      const { operations } = await openContext(ports, command);
      const { by } = await operations.call(service, put, { parameters: { name }, body });
      ports.print(`${name} is kept, by ${by}: give it to reconcile match as --mapping ${name}\n`);
    });
  withExamples(kept, ['pesewa reconcile mappings keep upstream-daily upstream.json']);
}
