import type { Merchant, NewMerchant } from '@pesewa/directory';
import type { Command } from 'commander';
import { collect, readCountry, readCurrency, readPair } from '../arguments.ts';
import { accepted, findMerchant, openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { feeForm, readFee } from '../fees.ts';
import { withExamples } from '../help.ts';
import { addLimitOptions, type LimitOptions, readLimits } from '../limits.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';

interface CreateOptions extends LimitOptions {
  readonly name: string;
  readonly wallet?: readonly string[];
  readonly payoutFee: string;
  readonly collectionFee: string;
  readonly payoutsUrl?: string;
  readonly collectionsUrl?: string;
  readonly publicKey?: string;
}

interface WebhookOptions {
  readonly payoutsUrl?: string;
  readonly collectionsUrl?: string;
  readonly rotateSecret?: boolean;
}

const DEFAULT_FEE = '1%';
const DEFAULT_LIMITS = { requestsPerSecond: 100 };

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
  addStatusCommands(merchants, ports);
  addSettingCommands(merchants, ports);
  addLimitsCommand(merchants, ports);
}

function addCreateCommand(merchants: Command, ports: CliPorts): void {
  const create = merchants
    .command('create')
    .description('creates a merchant and prints its public key and webhook secret')
    .argument('<merchant>', 'its id: 2 to 32 of a-z, 0-9, -')
    .requiredOption('--name <name>', 'its name')
    .option('--wallet <currency:country>', 'a wallet, as GHS:GHA; may be given several times', collect)
    .option('--payout-fee <fee>', `price of a payout: ${feeForm}`, DEFAULT_FEE)
    .option('--collection-fee <fee>', `price of a collection: ${feeForm}`, DEFAULT_FEE)
    .option('--payouts-url <url>', 'address of its payout webhooks')
    .option('--collections-url <url>', 'address of its collection webhooks if a request names none')
    .option('--public-key <key>', 'its public key (default: a new one)')
    .action(async (id: string, options: CreateOptions, command: Command) => {
      const merchant = newMerchant(id, options);
      const { withDirectory } = await openContext(ports, command);
      const created = await withDirectory(async (admin) => {
        await admin.ensureIndexes();
        return accepted(await admin.createMerchant(merchant));
      });
      ports.print(
        `created ${id}\npublic key      ${created.publicKey}\nwebhook secret  ${created.webhookSecret}\n`,
      );
    });
  addLimitOptions(create);
  withExamples(create, [
    'pesewa merchants create shop --name "The Shop" --wallet GHS:GHA --wallet XOF:CIV',
    'pesewa merchants create shop --name "The Shop" --wallet GHS:Ghana --payout-fee percent=1,fixed=0.50,max=20',
  ]);
}

function addStatusCommands(merchants: Command, ports: CliPorts): void {
  for (const [name, done, description] of [
    ['suspend', 'suspended', 'refuses all further requests of the merchant; payments in progress continue'],
    ['resume', 'resumed', 'lets a suspended merchant go on'],
  ] as const) {
    const change = merchants
      .command(name)
      .description(description)
      .argument('<merchant>', 'its id')
      .action(async (id: string, _options: unknown, command: Command) => {
        const { withDirectory } = await openContext(ports, command);
        await withDirectory(async (admin) => accepted(await admin[name](id)));
        ports.print(`${done} ${id}: seen everywhere within five seconds\n`);
      });
    withExamples(change, [`pesewa merchants ${name} demo`]);
  }
}

function addSettingCommands(merchants: Command, ports: CliPorts): void {
  const setWallet = merchants
    .command('set-wallet')
    .description('adds a wallet, or changes the prices of the one in that currency')
    .argument('<merchant>', 'its id')
    .argument('<currency>', 'ISO 4217 code')
    .argument('<country>', 'name or ISO 3166 code')
    .option('--payout-fee <fee>', `price of a payout: ${feeForm}`, DEFAULT_FEE)
    .option('--collection-fee <fee>', `price of a collection: ${feeForm}`, DEFAULT_FEE)
    .action(
      async (
        id: string,
        currencyText: string,
        country: string,
        fees: { readonly payoutFee: string; readonly collectionFee: string },
        command: Command,
      ) => {
        const wallet = walletOf(currencyText, country, fees);
        const { withDirectory } = await openContext(ports, command);
        await withDirectory(async (admin) => accepted(await admin.setWallet(id, wallet)));
        ports.print(`set the ${wallet.currency} wallet of ${id}\n`);
      },
    );
  withExamples(setWallet, ['pesewa merchants set-wallet demo GHS Ghana --payout-fee 1.5%']);
  const setWebhooks = merchants
    .command('set-webhooks')
    .description('changes the webhook settings of a merchant; those not given stay')
    .argument('<merchant>', 'its id')
    .option('--payouts-url <url>', 'address of payout webhooks, or none')
    .option('--collections-url <url>', 'address of collection webhooks, or none')
    .option('--rotate-secret', 'make a new secret; webhooks are also signed with the previous one')
    .action(async (id: string, options: WebhookOptions, command: Command) => {
      if (!options.payoutsUrl && !options.collectionsUrl && !options.rotateSecret) {
        throw new CliError('nothing to set: give --payouts-url, --collections-url or --rotate-secret');
      }
      const { withDirectory } = await openContext(ports, command);
      const secret = await withDirectory(async (admin) => {
        const { webhooks } = await findMerchant(admin, id);
        const payoutsUrl = urlOr(options.payoutsUrl, webhooks.payoutsUrl);
        const collectionsUrl = urlOr(options.collectionsUrl, webhooks.collectionsUrl);
        accepted(await admin.setWebhooks(id, { payoutsUrl, collectionsUrl }));
        return options.rotateSecret ? accepted(await admin.rotateWebhookSecret(id)).webhookSecret : undefined;
      });
      ports.print(`set the webhooks of ${id}\n${secret === undefined ? '' : `webhook secret  ${secret}\n`}`);
    });
  withExamples(setWebhooks, [
    'pesewa merchants set-webhooks demo --payouts-url https://shop.example/payouts',
    'pesewa merchants set-webhooks demo --collections-url none',
    'pesewa merchants set-webhooks demo --rotate-secret',
  ]);
}

function addLimitsCommand(merchants: Command, ports: CliPorts): void {
  const setLimits = merchants
    .command('set-limits')
    .description('changes the limits of a merchant; those not given stay')
    .argument('<merchant>', 'its id')
    .action(async (id: string, options: LimitOptions, command: Command) => {
      if (Object.keys(options).length === 0) throw new CliError('nothing to set: give a limit');
      const { withDirectory } = await openContext(ports, command);
      await withDirectory(async (admin) => {
        const { limits } = await findMerchant(admin, id);
        accepted(await admin.setLimits(id, readLimits(options, limits)));
      });
      ports.print(`set the limits of ${id}: seen everywhere within five seconds\n`);
    });
  addLimitOptions(setLimits);
  withExamples(setLimits, [
    'pesewa merchants set-limits demo --payout-max GHS:5000 --day-max GHS:50000',
    'pesewa merchants set-limits demo --day-max GHS:none --requests-per-second 50',
  ]);
}

function newMerchant(id: string, options: CreateOptions): NewMerchant {
  return {
    id,
    name: options.name,
    publicKey: options.publicKey,
    wallets: (options.wallet ?? []).map((text) => {
      const [currency, country] = readPair('--wallet', text, 'currency:country, such as GHS:GHA');
      return walletOf(currency, country, options);
    }),
    payoutsUrl: options.payoutsUrl,
    collectionsUrl: options.collectionsUrl,
    limits: readLimits(options, DEFAULT_LIMITS),
  };
}

function walletOf(
  currencyText: string,
  country: string,
  fees: { readonly payoutFee: string; readonly collectionFee: string },
): NewMerchant['wallets'][number] {
  const currency = readCurrency('currency', currencyText);
  return {
    currency,
    country: readCountry('country', country),
    payoutFee: readFee('--payout-fee', fees.payoutFee, currency),
    collectionFee: readFee('--collection-fee', fees.collectionFee, currency),
  };
}

function urlOr(given: string | undefined, present: string | null): string | null {
  if (given === undefined) return present;
  return given === 'none' ? null : given;
}

function table(merchants: readonly Merchant[], colours: boolean): string {
  return formatTable(
    ['MERCHANT', 'NAME', 'STATUS', 'WALLETS', 'KEYS', 'REQUESTS/S', 'PAYOUT WEBHOOKS'],
    merchants.map((merchant) => [
      merchant.id,
      merchant.name,
      merchant.status,
      merchant.wallets.map(({ currency }) => currency).join(' '),
      merchant.keyHashes.length,
      merchant.limits.requestsPerSecond,
      merchant.webhooks.payoutsUrl,
    ]),
    { colours, empty: 'no merchants: to create one, see pesewa merchants create --help' },
  );
}

/** A merchant as it is printed: without its webhook secrets. */
function shown(merchant: Merchant) {
  const { payoutsUrl, collectionsUrl, secrets } = merchant.webhooks;
  return { ...merchant, webhooks: { payoutsUrl, collectionsUrl, secrets: secrets.length } };
}
