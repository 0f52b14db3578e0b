import { hashPublicKey, isLive, type MerchantKey } from '@pesewa/directory';
import type { Command } from 'commander';
import { findMerchant, openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';
import { addChange } from '../settings-changes.ts';

/** A whole SHA-256 or its first 12 digits; a key has 16 letters at least. */
const SHA256_HEX = /^[0-9a-f]{12}(?:[0-9a-f]{52})?$/;
const SHORT_LENGTH = 12;

/** Adds `keys …`: a merchant's public keys. */
export function addKeyCommands(program: Command, ports: CliPorts): void {
  const keys = program
    .command('keys')
    .description('public keys of merchants, for payouts, collections or both');
  addChange(keys, ports, {
    name: 'add',
    kind: 'add-key',
    by: 'two',
    description: 'proposes a key beside the present ones, and prints it now; two may live for each scope',
    names: { scopes: 'scope', expiresAt: 'expires' },
    examples: [
      'demo --scope payouts',
      'demo --scope collections --expires 2027-01-31',
      'demo --scope payouts collections --public-key a-key-of-16-letters-or-more',
    ],
  });
  addListCommand(keys, ports);
  addChange(keys, ports, {
    name: 'remove',
    kind: 'remove-key',
    by: 'one',
    description: 'removes a key at once; the last one stays: suspend the merchant instead',
    arguments: ['keyHash'],
    names: { keyHash: 'key' },
    help: {
      keyHash: 'the key, or its SHA-256 in hex: all of it, or the 12 digits that keys list shows',
    },
    read: { keyHash: (_, key) => (SHA256_HEX.test(key) ? key : hashPublicKey(key)) },
    examples: ['demo demo-public-key-for-development', 'demo 3fa9c2d1e0b4 --dry-run'],
  });
}

function addListCommand(keys: Command, ports: CliPorts): void {
  const list = keys
    .command('list')
    .description('the keys of a merchant, each by the beginning of its SHA-256')
    .argument('<merchant>', 'its id')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { readonly json?: boolean }, command: Command) => {
      const { withDirectory } = await openContext(ports, command);
      const found = (await withDirectory((admin) => findMerchant(admin, id))).keys;
      ports.print(options.json ? formatJson(found) : table(found, ports));
    });
  withExamples(list, ['pesewa keys list demo', 'pesewa keys list demo --json']);
}

function table(
  keys: readonly MerchantKey[],
  { clock, colours }: Pick<CliPorts, 'clock' | 'colours'>,
): string {
  return formatTable(
    ['KEY', 'FOR', 'STATE', 'CREATED', 'EXPIRES'],
    keys.map((key) => [
      key.hash.slice(0, SHORT_LENGTH),
      key.scopes.join(', '),
      isLive(key, clock.nowMs()) ? 'live' : 'expired',
      key.createdAt.toISOString(),
      key.expiresAt?.toISOString() ?? 'never',
    ]),
    { colours, empty: 'no keys' },
  );
}
