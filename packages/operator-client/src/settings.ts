import type { SettingView } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { inWords } from './labels.ts';

/** A setting's value as people read it. */
export function settingText({ field, value, currency }: SettingView): string {
  if (currency !== null) return displayAmount(value, currency);
  if (field.endsWith('.percent')) return `${value}%`;
  return field.startsWith('limits.') ? Number(value).toLocaleString('en-GB') : value;
}

const parts = { fixed: ', fixed', min: ', at least', max: ', at most', percent: '', country: ', country' };
const wholes: Readonly<Record<string, string>> = {
  allowedAddresses: 'requests only from',
  'webhooks.payoutsUrl': 'payout webhooks to',
  'webhooks.collectionsUrl': 'collection webhooks to',
  'webhooks.secret': 'webhook secret, SHA-256',
  'webhooks.graceHours': 'hours in which the secrets before it sign too',
  'signing.requests': 'signatures of requests',
  'signing.secrets': 'signing secrets, SHA-256',
};
const maxima: Readonly<Record<string, string>> = {
  perPayoutMin: 'smallest payout',
  perPayoutMax: 'largest payout',
  perDayMax: 'payouts of a day',
  perBeneficiaryPerDayMax: 'payouts to one account in a day',
  perCollectionMin: 'smallest collection',
  perCollectionMax: 'largest collection',
  collectionsPerDayMax: 'collections of a day',
};

/** What a setting is called where people read it: `wallets.GHS.payoutFee.min` is `GHS payout fee, at least`. */
export function settingLabel(field: string): string {
  const known = wholes[field];
  if (known !== undefined) return known;
  const [group = '', name = '', third, last] = field.split('.');
  if (group === 'keys') return `key ${name}…`;
  if (group === 'limits')
    return third === undefined ? inWords(name) : `${maxima[name] ?? inWords(name)}, ${third}`;
  if (group !== 'wallets') return inWords(field);
  return last === undefined
    ? `${name} wallet${parts[third as keyof typeof parts] ?? ''}`
    : `${name} ${inWords(third ?? '')}${parts[last as keyof typeof parts] ?? ''}`;
}
