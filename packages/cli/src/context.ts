import type { Merchant } from '@pesewa/directory';
import type { Command } from 'commander';
import { createFileCaller, type FileCaller } from './clients/call.ts';
import { resolveSurroundings, type Surroundings } from './config.ts';
import { requireMongodbUrl } from './connections.ts';
import { CliError } from './errors.ts';
import type { CliPorts, OpenedDirectory } from './ports.ts';

/** What a command works with: the ports, and where services are. */
export interface CommandContext {
  readonly ports: CliPorts;
  readonly surroundings: Surroundings;
  /** The operator APIs that commands talk to (ADR 60). */
  readonly operations: FileCaller;
  /** Opens the directory, runs the work, and always closes the directory. */
  readonly withDirectory: <Value>(
    work: (admin: OpenedDirectory['admin']) => Promise<Value>,
  ) => Promise<Value>;
}

/** Resolves the addresses and tokens of one call and builds its context. */
export async function openContext(ports: CliPorts, command: Command): Promise<CommandContext> {
  const { runFile } = command.optsWithGlobals<{ readonly runFile?: string }>();
  const surroundings = await resolveSurroundings(runFile, ports.environment);
  return {
    ports,
    surroundings,
    operations: createFileCaller(ports, surroundings),
    withDirectory: async (work) => {
      await using directory = await ports.openDirectory(requireMongodbUrl(surroundings, ports.environment));
      return await work(directory.admin);
    },
  };
}

/** The merchant with this id; if there is none, throws an error that says where to look. */
export async function findMerchant(admin: OpenedDirectory['admin'], id: string): Promise<Merchant> {
  const merchant = (await admin.list()).find((candidate) => candidate.id === id);
  if (merchant) return merchant;
  throw new CliError(`merchant: there is no ${id}: see pesewa merchants list`);
}
