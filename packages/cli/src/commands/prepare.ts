import type { Command } from 'commander';
import { requireConnections } from '../connections.ts';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';

/** Adds `prepare`: creates what must exist before the first service starts. */
export function addPrepareCommand(program: Command, ports: CliPorts): void {
  const prepare = program
    .command('prepare')
    .description(
      'creates the missing topics, registers the schemas and indexes the directory; repeating it is safe',
    )
    .action(async (_options: unknown, command: Command) => {
      const { surroundings, withDirectory } = await openContext(ports, command);
      const settings = requireConnections(surroundings, ports.environment);
      const isProduction =
        settings.NODE_ENV === 'production' && !surroundings.ofRunningStack.has('KAFKA_BROKERS');
      await ports.prepare({ settings, isProduction, log: (line) => ports.print(`${line}\n`) });
      await withDirectory((admin) => admin.ensureIndexes());
      ports.print('the directory is indexed\n');
    });
  withExamples(prepare, [
    'pesewa prepare',
    'MONGODB_URL=… KAFKA_BROKERS=… SCHEMA_REGISTRY_URL=… pesewa prepare',
  ]);
}
