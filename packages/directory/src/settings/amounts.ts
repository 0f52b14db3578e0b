import type { AmountLimit, FeeBody, Wanted } from '@pesewa/contracts';
import {
  accept,
  amountProblem,
  displayAmount,
  type FeeSchedule,
  parseAmount,
  type Result,
  refuse,
} from '@pesewa/kernel';
import { checkMerchant, type Merchant } from '../merchant.ts';

/** A merchant with a wallet, or with other prices of the one in its currency; a new one needs both prices. */
export function setWallet(merchant: Merchant, wanted: Wanted<'wallet'>): Result<Merchant, string> {
  const { currency, country } = wanted;
  const present = merchant.wallets.find((wallet) => wallet.currency === currency);
  const payoutFee = readFee('payoutFee', wanted.payoutFee, present?.payoutFee, currency);
  if (!payoutFee.ok) return payoutFee;
  const collectionFee = readFee('collectionFee', wanted.collectionFee, present?.collectionFee, currency);
  if (!collectionFee.ok) return collectionFee;
  const wallet = { currency, country, payoutFee: payoutFee.value, collectionFee: collectionFee.value };
  return checkMerchant({
    ...merchant,
    wallets: present
      ? merchant.wallets.map((one) => (one === present ? wallet : one))
      : [...merchant.wallets, wallet],
  });
}

/** The limits on amounts, as they are asked for and as they are stored. */
export const amountLimits = {
  perPayoutMin: 'perPayoutMinMinor',
  perPayoutMax: 'perPayoutMaxMinor',
  perDayMax: 'perDayMaxMinor',
  perBeneficiaryPerDayMax: 'perBeneficiaryPerDayMaxMinor',
  perCollectionMin: 'perCollectionMinMinor',
  perCollectionMax: 'perCollectionMaxMinor',
  collectionsPerDayMax: 'collectionsPerDayMaxMinor',
} as const satisfies Readonly<Record<AmountLimit, keyof Merchant['limits']>>;

/** A merchant with other limits; those that are not given stay. */
export function setLimits(merchant: Merchant, wanted: Wanted<'limits'>): Result<Merchant, string> {
  const limits: Record<string, unknown> = { ...merchant.limits };
  for (const count of ['requestsPerSecond', 'nameEnquiriesPerMinute', 'collectionsPerNumberPerHour'] as const)
    if (wanted[count] !== undefined) limits[count] = wanted[count];
  const { payoutsPerBeneficiaryPerDay: perBeneficiary } = wanted;
  if (perBeneficiary !== undefined) limits['perBeneficiaryPerDayMax'] = perBeneficiary ?? undefined;
  for (const [name, stored] of Object.entries(amountLimits) as [AmountLimit, StoredAmounts][]) {
    const amounts = readAmounts(name, wanted[name], merchant.limits[stored]);
    if (!amounts.ok) return amounts;
    limits[stored] = amounts.value;
  }
  const crossed = whyCrossed(limits as unknown as Merchant['limits'], wanted);
  if (crossed !== undefined) return refuse(crossed);
  return checkMerchant({ ...merchant, limits: limits as unknown as Merchant['limits'] });
}

/** The limits that no single amount may exceed, by that which it must reach: between crossed ones no payment is possible. */
const mostOf = {
  perPayoutMin: ['perPayoutMax', 'perBeneficiaryPerDayMax', 'perDayMax'],
  perCollectionMin: ['perCollectionMax', 'collectionsPerDayMax'],
} as const;

/** What is wrong with limits of which one was asked for that is beyond its counterpart. */
function whyCrossed(limits: Merchant['limits'], wanted: Wanted<'limits'>): string | undefined {
  for (const [least, mosts] of Object.entries(mostOf) as [keyof typeof mostOf, readonly AmountLimit[]][])
    for (const most of mosts)
      for (const currency of Object.keys({ ...wanted[least], ...wanted[most] })) {
        const min = limits[amountLimits[least]]?.[currency];
        const max = limits[amountLimits[most]]?.[currency];
        if (min === undefined || max === undefined || min <= max) continue;
        return `${least}.${currency} must not be more than ${most}.${currency}, which is ${displayAmount(max, currency)}: lower the one, or raise the other`;
      }
  return undefined;
}

type StoredAmounts = (typeof amountLimits)[AmountLimit];
type Amounts = Merchant['limits'][StoredAmounts];

function readAmounts(
  field: AmountLimit,
  wanted: Wanted<'limits'>[AmountLimit] = {},
  present: Amounts = {},
): Result<Amounts, string> {
  const amounts = new Map(Object.entries(present));
  for (const [currency, text] of Object.entries(wanted)) {
    if (text === null) {
      amounts.delete(currency);
      continue;
    }
    const minor = readMinor(`${field}.${currency}`, text, currency);
    if (!minor.ok) return minor;
    amounts.set(currency, minor.value);
  }
  return accept(amounts.size > 0 ? Object.fromEntries(amounts) : undefined);
}

function readFee(
  field: string,
  wanted: FeeBody | undefined,
  present: FeeSchedule | undefined,
  currency: string,
): Result<FeeSchedule, string> {
  if (wanted === undefined)
    return present ? accept(present) : refuse(`${field} is required: the wallet has no price yet`);
  const { percent, fixed = '0', min = '0', max } = wanted;
  const [whole = '', fraction = ''] = percent.split('.', 2);
  const fixedMinor = readMinor(`${field}.fixed`, fixed, currency);
  if (!fixedMinor.ok) return fixedMinor;
  const minimumMinor = readMinor(`${field}.min`, min, currency);
  if (!minimumMinor.ok) return minimumMinor;
  const maximumMinor = max === undefined ? undefined : readMinor(`${field}.max`, max, currency);
  if (maximumMinor?.ok === false) return maximumMinor;
  if (maximumMinor && minimumMinor.value > maximumMinor.value)
    return refuse(`${field}.min must not be more than ${field}.max: lower the one, or raise the other`);
  return accept({
    basisPoints: BigInt(`${whole}${fraction.padEnd(2, '0')}`),
    fixedMinor: fixedMinor.value,
    minimumMinor: minimumMinor.value,
    ...(maximumMinor && { maximumMinor: maximumMinor.value }),
  });
}

function readMinor(field: string, text: string, currency: string): Result<bigint, string> {
  const amount = parseAmount(text, currency);
  if (!amount.ok) return refuse(`${field} ${amountProblem(amount.refusal, currency)}`);
  return amount.value.minor >= 0n ? accept(amount.value.minor) : refuse(`${field} must not be negative`);
}
