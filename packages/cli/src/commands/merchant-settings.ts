import type { Command } from 'commander';
import { readCountry, readCurrency } from '../arguments.ts';
import { CliError } from '../errors.ts';
import { feeForm, readFee } from '../fees.ts';
import { withExamples } from '../help.ts';
import { addLimitOptions, type LimitOptions, readLimits } from '../limits.ts';
import type { CliPorts } from '../ports.ts';
import { addChangeOptions, requestChange } from '../settings-changes.ts';
import { warnOfAddress } from '../webhook-addresses.ts';
import { addSignaturesCommand } from './signatures.ts';

interface FeeOptions {
  readonly payoutFee?: string;
  readonly collectionFee?: string;
}

interface WebhookOptions {
  readonly payoutsUrl?: string;
  readonly collectionsUrl?: string;
  readonly rotateSecret?: boolean;
  readonly grace?: string;
}

const GRACE_HOURS_MAX = 168;

/** Adds the commands that change a merchant's settings (ADR 80). */
export function addMerchantSettingCommands(merchants: Command, ports: CliPorts): void {
  addWalletCommand(merchants, ports);
  addWebhooksCommand(merchants, ports);
  addLimitsCommand(merchants, ports);
  addAccessCommand(merchants, ports);
  addSignaturesCommand(merchants, ports);
  addStatusCommands(merchants, ports);
}

function addWalletCommand(merchants: Command, ports: CliPorts): void {
  const setWallet = merchants
    .command('set-wallet')
    .description('proposes a new wallet, or other prices of the one in that currency; those not given stay')
    .argument('<merchant>', 'its id')
    .argument('<currency>', 'ISO 4217 code')
    .argument('<country>', 'name or ISO 3166 code')
    .option('--payout-fee <fee>', `price of a payout: ${feeForm}`)
    .option('--collection-fee <fee>', `price of a collection: ${feeForm}`)
    .action(
      async (
        merchantId: string,
        currency: string,
        country: string,
        options: FeeOptions,
        command: Command,
      ) => {
        const body = walletOf(currency, country, options);
        await requestChange(ports, command, merchantId, { kind: 'wallet', body });
      },
    );
  addChangeOptions(setWallet, 'two');
  withExamples(setWallet, [
    'pesewa merchants set-wallet demo GHS Ghana --payout-fee 1.5% --dry-run',
    'pesewa merchants set-wallet demo GHS Ghana --payout-fee 1.5% --reason "contract of 2026-11-01"',
  ]);
}

function addWebhooksCommand(merchants: Command, ports: CliPorts): void {
  const setWebhooks = merchants
    .command('set-webhooks')
    .description('proposes other webhook settings of a merchant; those not given stay')
    .argument('<merchant>', 'its id')
    .option('--payouts-url <url>', 'address of payout webhooks, or none')
    .option('--collections-url <url>', 'address of collection webhooks, or none')
    .option(
      '--rotate-secret',
      'make a new secret and show it now; webhooks are also signed with the one before it for a grace time',
    )
    .option(
      '--grace <hours>',
      'with --rotate-secret: how long, up to 168 hours; 0 ends the one before it at once (default: 24)',
    )
    .action(async (merchantId: string, options: WebhookOptions, command: Command) => {
      const { payoutsUrl, collectionsUrl, rotateSecret } = options;
      if (!payoutsUrl && !collectionsUrl && !rotateSecret) {
        throw new CliError('nothing to set: give --payouts-url, --collections-url or --rotate-secret');
      }
      const body = {
        ...(payoutsUrl && { payoutsUrl: urlOf(payoutsUrl) }),
        ...(collectionsUrl && { collectionsUrl: urlOf(collectionsUrl) }),
        ...(rotateSecret && { rotateSecret }),
        ...readGrace(options),
      };
      for (const [option, url] of [
        ['--payouts-url', payoutsUrl],
        ['--collections-url', collectionsUrl],
      ] as const)
        if (url !== undefined) await warnOfAddress(ports, option, url);
      await requestChange(ports, command, merchantId, { kind: 'webhooks', body });
    });
  addChangeOptions(setWebhooks, 'two');
  withExamples(setWebhooks, [
    'pesewa merchants set-webhooks demo --payouts-url https://shop.example/payouts',
    'pesewa merchants set-webhooks demo --collections-url none',
    'pesewa merchants set-webhooks demo --rotate-secret --grace 0',
    'pesewa merchants set-webhooks demo --rotate-secret --reason "the old one may be known"',
  ]);
}

/** How long the secret before a new one signs too. */
function readGrace({ grace, rotateSecret }: WebhookOptions): { readonly graceHours?: number } {
  if (grace === undefined) return {};
  if (!rotateSecret)
    throw new CliError('--grace: it is that of a new secret: give --rotate-secret, or leave it out');
  if (!/^\d{1,3}$/.test(grace) || Number(grace) > GRACE_HOURS_MAX)
    throw new CliError(`--grace: ${grace} is no such time: write whole hours from 0 to ${GRACE_HOURS_MAX}`);
  return { graceHours: Number(grace) };
}

function addLimitsCommand(merchants: Command, ports: CliPorts): void {
  const setLimits = merchants
    .command('set-limits')
    .description('proposes other limits of a merchant; those not given stay')
    .argument('<merchant>', 'its id')
    .action(async (merchantId: string, options: LimitOptions, command: Command) => {
      const body = readLimits(options);
      if (Object.values(body).every((limit) => limit === undefined))
        throw new CliError('nothing to set: give a limit');
      await requestChange(ports, command, merchantId, { kind: 'limits', body });
    });
  addLimitOptions(setLimits);
  addChangeOptions(setLimits, 'two');
  withExamples(setLimits, [
    'pesewa merchants set-limits demo --payout-max GHS:5000 --day-max GHS:50000',
    'pesewa merchants set-limits demo --day-max GHS:none --requests-per-second 50 --dry-run',
  ]);
}

function addAccessCommand(merchants: Command, ports: CliPorts): void {
  const setAccess = merchants
    .command('set-access')
    .description('proposes where requests of a merchant may come from')
    .argument('<merchant>', 'its id')
    .requiredOption(
      '--addresses <list>',
      'addresses and CIDR ranges, separated by commas, in place of the present ones; or any',
    )
    .action(async (merchantId: string, options: { readonly addresses: string }, command: Command) => {
      const { addresses } = options;
      const allowedAddresses = addresses === 'any' ? [] : addresses.split(',').map((item) => item.trim());
      await requestChange(ports, command, merchantId, { kind: 'access', body: { allowedAddresses } });
    });
  addChangeOptions(setAccess, 'two');
  withExamples(setAccess, [
    'pesewa merchants set-access demo --addresses 192.0.2.7,198.51.100.0/24,2001:db8:1::/48 --dry-run',
    'pesewa merchants set-access demo --addresses any --reason "they have moved"',
  ]);
}

function addStatusCommands(merchants: Command, ports: CliPorts): void {
  for (const [kind, by, description] of [
    ['suspend', 'one', 'refuses all further requests of the merchant at once; payments in progress continue'],
    ['resume', 'two', 'proposes to let a suspended merchant go on'],
  ] as const) {
    const change = merchants
      .command(kind)
      .description(description)
      .argument('<merchant>', 'its id')
      .action(async (merchantId: string, _options: object, command: Command) => {
        await requestChange(ports, command, merchantId, { kind, body: {} });
      });
    addChangeOptions(change, by);
    withExamples(change, [`pesewa merchants ${kind} demo`, `pesewa merchants ${kind} demo --dry-run`]);
  }
}

/** A wallet as it is asked for; prices that are not given are left out. */
export function walletOf(currencyText: string, countryText: string, fees: FeeOptions) {
  const currency = readCurrency('currency', currencyText);
  const { payoutFee, collectionFee } = fees;
  return {
    currency,
    country: readCountry('country', countryText),
    ...(payoutFee !== undefined && { payoutFee: readFee('--payout-fee', payoutFee, currency) }),
    ...(collectionFee !== undefined && {
      collectionFee: readFee('--collection-fee', collectionFee, currency),
    }),
  };
}

function urlOf(given: string): string | null {
  return given === 'none' ? null : given;
}
