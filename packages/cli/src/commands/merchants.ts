import { changeOperations, settingsOperations, wantedShapes } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { settingLabel, settingText } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readCountry, readCurrency, readPair } from '../arguments.ts';
import { openContext } from '../context.ts';
import { fieldsOf } from '../fields.ts';
import { withExamples } from '../help.ts';
import { limitNames, limitReaders } from '../limits.ts';
import { addList, addShow } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';
import { addChange, details } from '../settings-changes.ts';
import { addMerchantSettingCommands, withFees } from './merchant-settings.ts';

/** Adds `merchants …`: the merchants of the directory and their settings. */
export function addMerchantCommands(program: Command, ports: CliPorts): void {
  const merchants = program.command('merchants').description('merchants and their settings');
  const list = merchants
    .command('list')
    .description('every merchant of the directory, without secrets')
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: boolean }, command: Command) => {
      const { withDirectory } = await openContext(ports, command);
      const found = await withDirectory((admin) => admin.list());
      ports.print(options.json ? formatJson(found.map(shown)) : table(found, ports.colours));
    });
  withExamples(list, ['pesewa merchants list', 'pesewa merchants list --json']);
  addCreateCommand(merchants, ports);
  addShowCommands(merchants, ports);
  addMerchantSettingCommands(merchants, ports);
}

const DEFAULT_FEE = '1%';

function addCreateCommand(merchants: Command, ports: CliPorts): void {
  addChange(merchants, ports, {
    name: 'create',
    kind: 'create',
    by: 'one',
    description: 'creates a merchant and prints its public keys, one for each API, and its webhook secret',
    arguments: ['merchantId'],
    names: { wallets: 'wallet', ...limitNames },
    also: [...fieldsOf(changeOperations.limits), ...fieldsOf(changeOperations.wallet)].filter(
      ({ name }) => name in wantedShapes.limits || name.endsWith('Fee'),
    ),
    without: ['limits'],
    mayLack: ['wallets'],
    help: {
      wallets: 'a wallet, as GHS:GHA; may be given several times',
      publicKey: 'one public key for both APIs (default: a new one for each)',
    },
    read: {
      ...limitReaders,
      payoutFee: (_, text) => text,
      collectionFee: (_, text) => text,
      wallets: (label, _, all) =>
        all.map((text) => readPair(label, text, 'currency:country, such as GHS:GHA')),
    },
    usually: { payoutFee: [DEFAULT_FEE], collectionFee: [DEFAULT_FEE] },
    complete: ({ wallets = [], payoutFee, collectionFee, ...given }) => {
      const limits = Object.entries(given).filter(([name]) => name in wantedShapes.limits);
      const others = Object.entries(given).filter(([name]) => !(name in wantedShapes.limits));
      return {
        ...Object.fromEntries(others),
        wallets: (wallets as readonly (readonly [string, string])[]).map(([code, country]) =>
          withFees({
            currency: readCurrency('currency', code),
            country: readCountry('country', country),
            payoutFee,
            collectionFee,
          }),
        ),
        limits: Object.fromEntries(limits),
      };
    },
    examples: [
      'shop --name "The Shop" --wallet GHS:GHA --wallet XOF:CIV',
      'shop --name "The Shop" --wallet GHS:Ghana --payout-fee percent=1,fixed=0.50,max=20',
    ],
  });
}

function addShowCommands(merchants: Command, ports: CliPorts): void {
  addShow(merchants, ports, {
    name: 'show',
    operation: settingsOperations.merchant,
    service: 'ledger',
    names: { merchantId: 'merchant' },
    description: 'all settings of a merchant; keys and secrets only by the beginning of their SHA-256',
    text: ({ settings }) => {
      const rows = settings.map((one) => [settingLabel(one.field), settingText(one)]);
      return formatTable(['SETTING', 'VALUE'], rows, { colours: ports.colours, empty: 'no settings' });
    },
    examples: ['demo', 'demo --json'],
  });
  addList(merchants, ports, {
    name: 'history',
    operation: settingsOperations.list,
    service: 'ledger',
    description: "the newest changes of a merchant's settings: who, when, why, and from what to what",
    arguments: ['merchant'],
    help: { merchant: 'its id' },
    without: ['status'],
    columns: [],
    empty: ({ merchant }) => `no changes of ${String(merchant)}: see pesewa merchants list`,
    text: (found) => (found.length === 0 ? undefined : found.map(details).join('\n')),
    examples: ['demo', 'demo --limit 500 --json'],
  });
}

function table(merchants: readonly Merchant[], colours: boolean): string {
  return formatTable(
    ['MERCHANT', 'NAME', 'STATUS', 'WALLETS', 'KEYS', 'REQUESTS/S', 'PAYOUT WEBHOOKS'],
    merchants.map((merchant) => [
      merchant.id,
      merchant.name,
      merchant.status,
      merchant.wallets.map(({ currency }) => currency).join(' '),
      merchant.keys.length,
      merchant.limits.requestsPerSecond,
      merchant.webhooks.payoutsUrl,
    ]),
    { colours, empty: 'no merchants: to create one, see pesewa merchants create --help' },
  );
}

/** A merchant as it is printed: without its secrets. */
function shown(merchant: Merchant) {
  const { payoutsUrl, collectionsUrl, secrets } = merchant.webhooks;
  return {
    ...merchant,
    webhooks: { payoutsUrl, collectionsUrl, secrets: secrets.length },
    signing: { ...merchant.signing, secrets: merchant.signing.secrets.length },
  };
}
