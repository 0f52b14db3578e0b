import type { Command } from 'commander';
import { readCountry, readCurrency } from '../arguments.ts';
import { CliError } from '../errors.ts';
import { readFee } from '../fees.ts';
import type { Given } from '../fields.ts';
import { limitNames, limitReaders } from '../limits.ts';
import type { CliPorts } from '../ports.ts';
import { addChange } from '../settings-changes.ts';
import { warnOfAddress } from '../webhook-addresses.ts';

/** Refuses a change that sets nothing. */
const requireSome =
  (ofWhat: readonly string[], what: string) =>
  (given: Given): Given => {
    if (ofWhat.some((name) => given[name] !== undefined)) return given;
    throw new CliError(`nothing to set: give ${what}`);
  };

/** Adds the commands that change a merchant's settings (ADR 80). */
export function addMerchantSettingCommands(merchants: Command, ports: CliPorts): void {
  addChange(merchants, ports, {
    name: 'set-wallet',
    kind: 'wallet',
    by: 'two',
    description: 'proposes a new wallet, or other prices of the one in that currency; those not given stay',
    arguments: ['currency', 'country'],
    read: { currency: readCurrency, country: readCountry, payoutFee: asText, collectionFee: asText },
    complete: withFees,
    examples: [
      'demo GHS Ghana --payout-fee 1.5% --dry-run',
      'demo GHS Ghana --payout-fee 1.5% --reason "contract of 2026-11-01"',
    ],
  });
  addWebhooksCommand(merchants, ports);
  const limits = [
    'requestsPerSecond',
    'nameEnquiriesPerMinute',
    'collectionsPerNumberPerHour',
    'payoutsPerBeneficiaryPerDay',
  ];
  addChange(merchants, ports, {
    name: 'set-limits',
    kind: 'limits',
    by: 'two',
    description: 'proposes other limits of a merchant; those not given stay',
    names: limitNames,
    read: limitReaders,
    complete: requireSome([...limits, ...Object.keys(limitNames)], 'a limit'),
    examples: [
      'demo --payout-max GHS:5000 --day-max GHS:50000',
      'demo --day-max GHS:none --requests-per-second 50 --dry-run',
    ],
  });
  addAccessCommands(merchants, ports);
}

function addAccessCommands(merchants: Command, ports: CliPorts): void {
  addChange(merchants, ports, {
    name: 'set-access',
    kind: 'access',
    by: 'two',
    description: 'proposes where requests of a merchant may come from',
    names: { allowedAddresses: 'addresses' },
    read: {
      allowedAddresses: (_, text) => (text === 'any' ? [] : text.split(',').map((item) => item.trim())),
    },
    examples: [
      'demo --addresses 192.0.2.7,198.51.100.0/24,2001:db8:1::/48 --dry-run',
      'demo --addresses any --reason "they have moved"',
    ],
  });
  addChange(merchants, ports, {
    name: 'set-signatures',
    kind: 'signatures',
    by: 'two',
    description: 'proposes whether requests of a merchant must be signed, or other secrets for it',
    names: { required: 'requests' },
    choices: { required: ['required', 'optional'] },
    read: { required: (_, text) => text === 'required' },
    complete: requireSome(
      ['required', 'addSecret', 'removeSecret'],
      '--requests, --add-secret or --remove-secret',
    ),
    examples: [
      'demo --add-secret --reason "they begin to sign"',
      'demo --requests required --dry-run',
      'demo --add-secret --remove-secret 3fa9c2d1e0b4',
    ],
  });
  for (const [kind, by, description] of [
    ['suspend', 'one', 'refuses all further requests of the merchant at once; payments in progress continue'],
    ['resume', 'two', 'proposes to let a suspended merchant go on'],
  ] as const)
    addChange(merchants, ports, { name: kind, kind, by, description, examples: ['demo', 'demo --dry-run'] });
}

function addWebhooksCommand(merchants: Command, ports: CliPorts): void {
  const some = requireSome(
    ['payoutsUrl', 'collectionsUrl', 'rotateSecret'],
    '--payouts-url, --collections-url or --rotate-secret',
  );
  addChange(merchants, ports, {
    name: 'set-webhooks',
    kind: 'webhooks',
    by: 'two',
    description: 'proposes other webhook settings of a merchant; those not given stay',
    names: { graceHours: 'grace' },
    read: { graceHours: readGrace },
    complete: (given) => {
      if (given['graceHours'] !== undefined && !given['rotateSecret'])
        throw new CliError('--grace: it is that of a new secret: give --rotate-secret, or leave it out');
      return some(given);
    },
    warn: async ({ payoutsUrl, collectionsUrl }) => {
      for (const [option, url] of [
        ['--payouts-url', payoutsUrl],
        ['--collections-url', collectionsUrl],
      ] as const)
        if (typeof url === 'string') await warnOfAddress(ports, option, url);
    },
    examples: [
      'demo --payouts-url https://shop.example/payouts',
      'demo --collections-url none',
      'demo --rotate-secret --grace 0',
      'demo --rotate-secret --reason "the old one may be known"',
    ],
  });
}

const GRACE_HOURS_MAX = 168;

/** Reads how long the secret before a new one signs too. */
function readGrace(label: string, text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= GRACE_HOURS_MAX) return Number(text);
  throw new CliError(`${label}: ${text} is no such time: write whole hours from 0 to ${GRACE_HOURS_MAX}`);
}

const asText = (_: string, text: string) => text;

/** A wallet as it is asked for: prices are read once its currency is known; those that are not given are left out. */
export function withFees({ payoutFee, collectionFee, ...wallet }: Given): Given {
  const fee = (name: string, label: string, text: unknown) =>
    typeof text === 'string' ? { [name]: readFee(label, text, String(wallet['currency'])) } : {};
  return {
    ...wallet,
    ...fee('payoutFee', '--payout-fee', payoutFee),
    ...fee('collectionFee', '--collection-fee', collectionFee),
  };
}
