import { DAY_MS, displayAmount, type Money } from '@pesewa/kernel';
import type { RequestRefusal } from './request.ts';

/** A merchant's limits on amounts, in minor units by currency; absent means unlimited. */
interface AmountLimits {
  readonly perPayoutMinMinor?: Readonly<Record<string, bigint>> | undefined;
  readonly perPayoutMaxMinor?: Readonly<Record<string, bigint>> | undefined;
  readonly perDayMaxMinor?: Readonly<Record<string, bigint>> | undefined;
}

/**
 * The refusal of an amount below the merchant's minimum or over its limit for a single payout; undefined within both.
 * `path` names the field.
 */
export function payoutLimitRefusal(
  limits: AmountLimits,
  amount: Money,
  path: string,
): RequestRefusal | undefined {
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
export function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}

/** The daily limit that applies to a payout; undefined if the merchant has none in its currency. */
export function dayLimitOf(
  merchant: { readonly id: string; readonly limits: AmountLimits },
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
