import { hashPublicKey } from '@pesewa/directory';
import type { Command } from 'commander';
import { accepted, openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';

const SHA256_HEX = /^[0-9a-f]{64}$/;

/** Adds `keys …`: a merchant's public keys. */
export function addKeyCommands(program: Command, ports: CliPorts): void {
  const keys = program.command('keys').description('public keys of merchants');
  const add = keys
    .command('add')
    .description('adds a key beside the present ones and prints it')
    .argument('<merchant>', 'its id')
    .option('--public-key <key>', 'the key: 16 to 128 letters, digits, - and _ (default: a new one)')
    .action(async (id: string, options: { readonly publicKey?: string }, command: Command) => {
      const { withDirectory } = await openContext(ports, command);
      const { publicKey } = await withDirectory(async (admin) =>
        accepted(await admin.addKey(id, options.publicKey)),
      );
      ports.print(`public key  ${publicKey}\nSHA-256     ${hashPublicKey(publicKey)}\n`);
    });
  withExamples(add, [
    'pesewa keys add demo',
    'pesewa keys add demo --public-key a-key-of-16-letters-or-more',
  ]);
  const remove = keys
    .command('remove')
    .description('removes a key; the last one stays: suspend the merchant instead')
    .argument('<merchant>', 'its id')
    .argument('<key>', 'the key, or its SHA-256 in hex as merchants list --json shows it')
    .action(async (id: string, key: string, _options: unknown, command: Command) => {
      const { withDirectory } = await openContext(ports, command);
      const hash = SHA256_HEX.test(key) ? key : hashPublicKey(key);
      await withDirectory(async (admin) => accepted(await admin.removeKey(id, hash)));
      ports.print(`removed the key ${hash.slice(0, 12)}… of ${id}: refused everywhere within five seconds\n`);
    });
  withExamples(remove, ['pesewa keys remove demo demo-public-key-for-development']);
}
