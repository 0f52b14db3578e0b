import { type KeyScope, keyScopes } from '@pesewa/contracts';
import { hashPublicKey, isLive, type MerchantKey } from '@pesewa/directory';
import { type Command, Option } from 'commander';
import { readTime } from '../arguments.ts';
import { findMerchant, openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';
import { addChangeOptions, requestChange } from '../settings-changes.ts';

interface AddOptions {
  readonly scope: readonly KeyScope[];
  readonly expires?: string;
  readonly publicKey?: string;
}

/** A whole SHA-256 or its first 12 digits; a key has 16 letters at least. */
const SHA256_HEX = /^[0-9a-f]{12}(?:[0-9a-f]{52})?$/;
const SHORT_LENGTH = 12;

/** Adds `keys …`: a merchant's public keys. */
export function addKeyCommands(program: Command, ports: CliPorts): void {
  const keys = program
    .command('keys')
    .description('public keys of merchants, for payouts, collections or both');
  addAddCommand(keys, ports);
  addListCommand(keys, ports);
  addRemoveCommand(keys, ports);
}

function addAddCommand(keys: Command, ports: CliPorts): void {
  const add = keys
    .command('add')
    .description('proposes a key beside the present ones, and prints it now; two may live for each scope')
    .argument('<merchant>', 'its id')
    .addOption(
      new Option('--scope <scopes...>', 'what the key is for').choices(keyScopes).makeOptionMandatory(),
    )
    .option('--expires <time>', 'when it ends, as 2026-11-01 or 2026-11-01T08:00:00Z (default: never)')
    .option('--public-key <key>', 'the key: 16 to 128 letters, digits, - and _ (default: a new one)')
    .action(async (merchantId: string, options: AddOptions, command: Command) => {
      const { scope, expires, publicKey } = options;
      const body = {
        scopes: [...new Set(scope)],
        ...(publicKey !== undefined && { publicKey }),
        ...(expires !== undefined && { expiresAt: readTime('--expires', expires).toISOString() }),
      };
      await requestChange(ports, command, merchantId, { kind: 'add-key', body });
    });
  addChangeOptions(add, 'two');
  withExamples(add, [
    'pesewa keys add demo --scope payouts',
    'pesewa keys add demo --scope collections --expires 2027-01-31',
    'pesewa keys add demo --scope payouts collections --public-key a-key-of-16-letters-or-more',
  ]);
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

function addRemoveCommand(keys: Command, ports: CliPorts): void {
  const remove = keys
    .command('remove')
    .description('removes a key at once; the last one stays: suspend the merchant instead')
    .argument('<merchant>', 'its id')
    .argument('<key>', 'the key, or its SHA-256 in hex: all of it, or the 12 digits that keys list shows')
    .action(async (merchantId: string, key: string, _options: object, command: Command) => {
      const body = { keyHash: SHA256_HEX.test(key) ? key : hashPublicKey(key) };
      await requestChange(ports, command, merchantId, { kind: 'remove-key', body });
    });
  addChangeOptions(remove, 'one');
  withExamples(remove, [
    'pesewa keys remove demo demo-public-key-for-development',
    'pesewa keys remove demo 3fa9c2d1e0b4 --dry-run',
  ]);
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
