import { createHash } from 'node:crypto';
import type { FieldChangeView, SettingView } from '@pesewa/contracts';
import { type FeeSchedule, formatAmount } from '@pesewa/kernel';
import type { Merchant } from '../merchant.ts';
import { amountLimits } from './amounts.ts';

/** How many digits of a SHA-256 stand for a key or a secret where people read. */
const SHOWN_DIGITS = 12;

/** A merchant's settings in text, each by its path (ADR 80); keys and secrets only by the beginning of their SHA-256. */
export function settingsOf(merchant: Merchant): readonly SettingView[] {
  const { webhooks, limits, signing } = merchant;
  return [
    ...text('name', merchant.name),
    ...text('status', merchant.status),
    ...merchant.keys.flatMap(({ hash, scopes, expiresAt }) => {
      const until = expiresAt === undefined ? '' : ` until ${expiresAt.toISOString()}`;
      return text(`keys.${hash.slice(0, SHOWN_DIGITS)}`, `${scopes.join(', ')}${until}`);
    }),
    ...text('allowedAddresses', merchant.allowedAddresses.join(', ') || null),
    ...text('signing.requests', signing.isRequired ? 'required' : 'optional'),
    ...text('signing.secrets', signing.secrets.map(fingerprint).join(' ') || null),
    ...merchant.wallets.flatMap(({ currency, country, payoutFee, collectionFee }) => [
      ...text(`wallets.${currency}.country`, country),
      ...fee(`wallets.${currency}.payoutFee`, payoutFee, currency),
      ...fee(`wallets.${currency}.collectionFee`, collectionFee, currency),
    ]),
    ...text('webhooks.payoutsUrl', webhooks.payoutsUrl),
    ...text('webhooks.collectionsUrl', webhooks.collectionsUrl),
    // The newest alone: those before it end by themselves, which is no change of anybody's.
    ...text('webhooks.secret', webhooks.secrets.slice(0, 1).map(fingerprint).join()),
    ...text('limits.requestsPerSecond', limits.requestsPerSecond),
    ...text('limits.nameEnquiriesPerMinute', limits.nameEnquiriesPerMinute),
    ...text('limits.collectionsPerNumberPerHour', limits.collectionsPerNumberPerHour),
    ...text('limits.payoutsPerBeneficiaryPerDay', limits.perBeneficiaryPerDayMax),
    ...Object.entries(amountLimits).flatMap(([name, stored]) => amounts(`limits.${name}`, limits[stored])),
  ];
}

/** What differs between two states of a merchant, from what to what; before a merchant is created there is nothing. */
export function fieldChanges(before: Merchant | undefined, after: Merchant): readonly FieldChangeView[] {
  const old = new Map((before ? settingsOf(before) : []).map((one) => [one.field, one]));
  const fresh = new Map(settingsOf(after).map((one) => [one.field, one]));
  return [...new Set([...fresh.keys(), ...old.keys()])].flatMap((field) => {
    const [from, to] = [old.get(field), fresh.get(field)];
    if (from?.value === to?.value) return [];
    const currency = to?.currency ?? from?.currency ?? null;
    return [{ field, from: from?.value ?? null, to: to?.value ?? null, currency }];
  });
}

/** The first field that a change would alter otherwise than it was proposed; undefined if there is none. */
export function staleField(
  proposed: readonly FieldChangeView[],
  now: readonly FieldChangeView[],
): string | undefined {
  const said = new Map(proposed.map((one) => [one.field, one]));
  const would = new Map(now.map((one) => [one.field, one]));
  return [...said.keys(), ...would.keys()].find((field) => {
    const [one, other] = [said.get(field), would.get(field)];
    return one?.from !== other?.from || one?.to !== other?.to;
  });
}

function text(field: string, value: string | number | null | undefined): readonly SettingView[] {
  return value === null || value === undefined ? [] : [{ field, value: String(value), currency: null }];
}

function fee(field: string, schedule: FeeSchedule, currency: string): readonly SettingView[] {
  const { basisPoints, fixedMinor, minimumMinor, maximumMinor } = schedule;
  const amount = (part: string, minor: bigint | undefined) =>
    minor === undefined
      ? []
      : [{ field: `${field}.${part}`, value: formatAmount(minor, currency), currency }];
  return [
    ...text(`${field}.percent`, percentOf(basisPoints)),
    ...amount('fixed', fixedMinor === 0n ? undefined : fixedMinor),
    ...amount('min', minimumMinor === 0n ? undefined : minimumMinor),
    ...amount('max', maximumMinor),
  ];
}

function amounts(field: string, byCurrency: Readonly<Record<string, bigint>> = {}): readonly SettingView[] {
  return Object.entries(byCurrency)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, minor]) => ({
      field: `${field}.${currency}`,
      value: formatAmount(minor, currency),
      currency,
    }));
}

/** Hundredths of a percent as percent: 150 is `1.5`. */
function percentOf(basisPoints: bigint): string {
  const fraction = String(basisPoints % 100n)
    .padStart(2, '0')
    .replace(/0+$/, '');
  return `${basisPoints / 100n}${fraction === '' ? '' : `.${fraction}`}`;
}

/** What stands for a secret where people read: the beginning of its SHA-256. */
export function fingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, SHOWN_DIGITS);
}
