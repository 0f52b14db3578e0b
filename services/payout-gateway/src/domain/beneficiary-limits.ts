import { subscriberDigits } from '@pesewa/contracts';
import { DAY_MS, displayAmount } from '@pesewa/kernel';
import { type DayLimit, dayOf } from './limits.ts';
import type { PayoutRequest } from './request.ts';

/** A merchant's limits on payouts to one beneficiary's account within a UTC day; absent means unlimited. */
interface BeneficiaryLimits {
  readonly perBeneficiaryPerDayMax?: number | undefined;
  /** In minor units by currency. */
  readonly perBeneficiaryPerDayMaxMinor?: Readonly<Record<string, bigint>> | undefined;
}

const KEPT_DAYS = 2;

/** The limits of its beneficiary that apply to a payout; `path` names the beneficiary in a refusal. */
export function beneficiaryLimitsOf(
  { id, limits }: { readonly id: string; readonly limits: BeneficiaryLimits },
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
    forgetAtMs: now.getTime() + KEPT_DAYS * DAY_MS,
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
