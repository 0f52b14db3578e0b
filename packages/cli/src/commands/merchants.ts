import type { Merchant } from '@pesewa/directory';
import { settingLabel, settingText } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { asList, collect, readCount, readPair } from '../arguments.ts';
import { openContext } from '../context.ts';
import { feeForm } from '../fees.ts';
import { withExamples } from '../help.ts';
import { addLimitOptions, type LimitOptions, readLimits } from '../limits.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';
import { addChangeOptions, details, requestChange } from '../settings-changes.ts';
import { addMerchantSettingCommands, walletOf } from './merchant-settings.ts';

interface CreateOptions extends LimitOptions {
  readonly name: string;
  readonly wallet?: readonly string[];
  readonly payoutFee: string;
  readonly collectionFee: string;
  readonly payoutsUrl?: string;
  readonly collectionsUrl?: string;
  readonly publicKey?: string;
}

const DEFAULT_FEE = '1%';

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

function addCreateCommand(merchants: Command, ports: CliPorts): void {
  const create = merchants
    .command('create')
    .description('creates a merchant and prints its public keys, one for each API, and its webhook secret')
    .argument('<merchant>', 'its id: 2 to 32 of a-z, 0-9, -')
    .requiredOption('--name <name>', 'its name')
    .option('--wallet <currency:country>', 'a wallet, as GHS:GHA; may be given several times', collect)
    .option('--payout-fee <fee>', `price of a payout: ${feeForm}`, DEFAULT_FEE)
    .option('--collection-fee <fee>', `price of a collection: ${feeForm}`, DEFAULT_FEE)
    .option('--payouts-url <url>', 'address of its payout webhooks')
    .option('--collections-url <url>', 'address of its collection webhooks if a request names none')
    .option('--public-key <key>', 'one public key for both APIs (default: a new one for each)')
    .action(async (merchantId: string, options: CreateOptions, command: Command) => {
      const { name, publicKey, payoutsUrl, collectionsUrl } = options;
      const wallets = (options.wallet ?? []).map((text) => {
        const [currency, country] = readPair('--wallet', text, 'currency:country, such as GHS:GHA');
        return walletOf(currency, country, options);
      });
      const limits = readLimits(options);
      const body = { merchantId, name, publicKey, payoutsUrl, collectionsUrl, wallets, limits };
      await requestChange(ports, command, merchantId, { kind: 'create', body });
    });
  addLimitOptions(create);
  addChangeOptions(create, 'one');
  withExamples(create, [
    'pesewa merchants create shop --name "The Shop" --wallet GHS:GHA --wallet XOF:CIV',
    'pesewa merchants create shop --name "The Shop" --wallet GHS:Ghana --payout-fee percent=1,fixed=0.50,max=20',
  ]);
}

function addShowCommands(merchants: Command, ports: CliPorts): void {
  const show = merchants
    .command('show')
    .description('all settings of a merchant; keys and secrets only by the beginning of their SHA-256')
    .argument('<merchant>', 'its id')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const found = await operations.settings.merchant(id);
      const rows = found.settings.map((one) => [settingLabel(one.field), settingText(one)]);
      const shown = formatTable(['SETTING', 'VALUE'], rows, { colours: ports.colours, empty: 'no settings' });
      ports.print(options.json ? formatJson(found) : shown);
    });
  withExamples(show, ['pesewa merchants show demo', 'pesewa merchants show demo --json']);
  const history = asList(merchants.command('history'))
    .description("the newest changes of a merchant's settings: who, when, why, and from what to what")
    .argument('<merchant>', 'its id')
    .action(
      async (id: string, options: { readonly limit: string; readonly json?: boolean }, command: Command) => {
        const limit = readCount('--limit', options.limit);
        const { operations } = await openContext(ports, command);
        const found = await operations.settings.list({ merchant: id }, limit);
        const shown = found.map(details).join('\n') || `no changes of ${id}: see pesewa merchants list\n`;
        ports.print(options.json ? formatJson(found) : shown);
      },
    );
  withExamples(history, [
    'pesewa merchants history demo',
    'pesewa merchants history demo --limit 500 --json',
  ]);
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
