import { subscriberDigits } from '@pesewa/contracts';
import { DAY_MS, displayAmount, type Money } from '@pesewa/kernel';
import type { PayoutRequest, RequestRefusal } from './request.ts';

/** A merchant's limits, those on amounts in minor units by currency; absent means unlimited. */
interface Limits {
  readonly perPayoutMinMinor?: Readonly<Record<string, bigint>> | undefined;
  readonly perPayoutMaxMinor?: Readonly<Record<string, bigint>> | undefined;
  readonly perDayMaxMinor?: Readonly<Record<string, bigint>> | undefined;
  /** How many payouts, and their amount, to one beneficiary's account within a UTC day. */
  readonly perBeneficiaryPerDayMax?: number | undefined;
  readonly perBeneficiaryPerDayMaxMinor?: Readonly<Record<string, bigint>> | undefined;
}

/**
 * The refusal of an amount below the merchant's minimum or over its limit for a single payout; undefined within both.
 * `path` names the field.
 */
export function payoutLimitRefusal(limits: Limits, amount: Money, path: string): RequestRefusal | undefined {
  const { minor, currency } = amount;
  const min = limits.perPayoutMinMinor?.[currency];
  if (min !== undefined && minor < min) {
    const least = displayAmount(min, currency);
    return { code: 'invalidAmount', message: `${path} is below your minimum per payout of ${least}` };
  }
  const max = limits.perPayoutMaxMinor?.[currency];
  if (max === undefined || minor <= max) return undefined;
  const most = displayAmount(max, currency);
  return { code: 'overLimit', message: `${path} is over your limit per payout of ${most}` };
}

/** A limit on what a merchant may have accepted within one UTC day, and how it is refused beyond that. */
export interface DayLimit {
  /** For what and for which day; has no personal data. */
  readonly id: string;
  readonly max: bigint;
  /** How much of it the payout takes. */
  readonly takes: bigint;
  /** After this time the day's count is not needed any more. */
  readonly forgetAtMs: number;
  readonly refusal: RequestRefusal;
}

const KEPT_DAYS = 40;

/** The UTC day of a time, as its limits are counted. */
function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}

/** The daily limit that applies to a payout; undefined if the merchant has none in its currency. */
export function dayLimitOf(
  merchant: { readonly id: string; readonly limits: Limits },
  { minor: takes, currency }: Money,
  now: Date,
): DayLimit | undefined {
  const max = merchant.limits.perDayMaxMinor?.[currency];
  if (max === undefined) return undefined;
  const most = displayAmount(max, currency);
  return {
    id: `${merchant.id}:${currency}:${dayOf(now)}`,
    max,
    takes,
    forgetAtMs: now.getTime() + KEPT_DAYS * DAY_MS,
    refusal: { code: 'overLimit', message: `this would exceed your limit per day (UTC) of ${most}` },
  };
}

const BENEFICIARY_KEPT_DAYS = 2;

/** The limits of its beneficiary that apply to a payout; `path` names the beneficiary in a refusal. */
export function beneficiaryLimitsOf(
  { id, limits }: { readonly id: string; readonly limits: Limits },
  order: PayoutRequest,
  {
    now,
    path,
    digest,
  }: {
    readonly now: Date;
    readonly path: string;
    /** The key under which {@link beneficiaryAccount} is counted: it is personal data, and not stored. */
    readonly digest: (account: string) => string;
  },
): readonly DayLimit[] {
  const { minor, currency } = order.amount;
  const count = limits.perBeneficiaryPerDayMax;
  const amount = limits.perBeneficiaryPerDayMaxMinor?.[currency];
  if (count === undefined && amount === undefined) return [];
  const counted = `${id}:beneficiary:${digest(beneficiaryAccount(order))}:${dayOf(now)}`;
  const limit = (kind: string, max: bigint, takes: bigint, most: string): DayLimit => ({
    id: `${counted}:${kind}`,
    max,
    takes,
    forgetAtMs: now.getTime() + BENEFICIARY_KEPT_DAYS * DAY_MS,
    refusal: {
      code: 'overLimit',
      message: `${path} would exceed your limit per beneficiary and day (UTC) of ${most}`,
    },
  });
  return [
    ...(count === undefined ? [] : [limit('count', BigInt(count), 1n, `${count} payouts`)]),
    ...(amount === undefined ? [] : [limit(currency, amount, minor, displayAmount(amount, currency))]),
  ];
}

/** A beneficiary's account, the same in any spelling; only for counting. */
export function beneficiaryAccount({
  channel,
  country,
  beneficiary,
}: Pick<PayoutRequest, 'channel' | 'country' | 'beneficiary'>): string {
  const text = beneficiary.accountNumber.normalize('NFKC').toUpperCase();
  const account =
    channel === 'Mobile Money'
      ? subscriberDigits(text, country)
      : text.replace(/[^\p{L}\p{N}]/gu, '').replace(/^0+/, '');
  return JSON.stringify([channel, beneficiary.bankCode, account]);
}
