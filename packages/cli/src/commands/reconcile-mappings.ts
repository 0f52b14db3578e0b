import { statementMappingOperations } from '@pesewa/contracts';
import type { Command } from 'commander';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';
import { readMappingFile } from './reconcile-match.ts';

interface JsonOption {
  readonly json?: boolean;
}

/** Adds `mappings …`: how rails write their statements, kept under names. */
export function addMappingCommands(reconcile: Command, ports: CliPorts): void {
  const mappings = reconcile
    .command('mappings')
    .description('how rails write their statements, kept under names; without a verb it lists them');
  const { list, show, put } = statementMappingOperations;
  const listed = mappings
    .command('list', { isDefault: true })
    .description('the mappings that are kept, by name')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption, command: Command) => {
      const { operations } = await openContext(ports, command);
      const { items } = await operations.call('reconciler', list, {});
      const { colours } = ports;
      const rows = items.map(({ name, by }) => [name, by]);
      ports.print(
        options.json
          ? formatJson(items)
          : formatTable(['NAME', 'KEPT BY'], rows, { colours, empty: 'no mapping is kept' }),
      );
    });
  withExamples(listed, ['pesewa reconcile mappings list']);
  const shown = mappings
    .command('show')
    .description('a mapping as JSON, which can be changed and kept again')
    .argument('<name>', 'the name of the mapping')
    .action(async (name: string, _: JsonOption, command: Command) => {
      const { operations } = await openContext(ports, command);
      const { mapping } = await operations.call('reconciler', show, { parameters: { name } });
      ports.print(formatJson(mapping));
    });
  withExamples(shown, ['pesewa reconcile mappings show upstream-daily']);
  const kept = mappings
    .command('keep')
    .description(
      'keeps a mapping under a name, in place of the one before; statements keep the one they were read by',
    )
    .argument('<name>', 'the name: a-z, 0-9 and -')
    .argument('<file>', 'the mapping as JSON')
    .action(async (name: string, file: string, _: JsonOption, command: Command) => {
      const body = await readMappingFile(file);
      const { operations } = await openContext(ports, command);
      const { by } = await operations.call('reconciler', put, { parameters: { name }, body });
      ports.print(`${name} is kept, by ${by}: give it to reconcile match as --mapping ${name}\n`);
    });
  withExamples(kept, ['pesewa reconcile mappings keep upstream-daily upstream.json']);
}
