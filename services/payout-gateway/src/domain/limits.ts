import { DAY_MS, displayAmount, type Money } from '@pesewa/kernel';
import type { RequestRefusal } from './submission.ts';

/** A merchant's limits on amounts, in minor units by currency; absent means unlimited. */
interface AmountLimits {
  readonly perPayoutMaxMinor?: Readonly<Record<string, bigint>> | undefined;
  readonly perDayMaxMinor?: Readonly<Record<string, bigint>> | undefined;
}

/**
 * The refusal of an amount over the merchant's limit for a single payout; undefined within it. `path` names the field.
 */
export function payoutLimitRefusal(
  limits: AmountLimits,
  amount: Money,
  path: string,
): RequestRefusal | undefined {
  const max = limits.perPayoutMaxMinor?.[amount.currency];
  if (max === undefined || amount.minor <= max) return undefined;
  const most = displayAmount(max, amount.currency);
  return { code: 'overLimit', message: `${path} is over your limit per payout of ${most}` };
}

/** The refusal for an exceeded daily limit. */
export function dayLimitRefusal({ max, currency }: Pick<DayLimit, 'max' | 'currency'>): RequestRefusal {
  const most = displayAmount(max, currency);
  return { code: 'overLimit', message: `this would exceed your limit per day (UTC) of ${most}` };
}

/** A limit on what a merchant may have accepted within one UTC day, in one currency. */
export interface DayLimit {
  /** `<merchant>:<currency>:<day>` */
  readonly id: string;
  /** Minor units of the currency. */
  readonly max: bigint;
  readonly currency: string;
  /** After this time the day's count is not needed any more. */
  readonly forgetAtMs: number;
}

const KEPT_DAYS = 40;

/** The daily limit that applies to a payout; undefined if the merchant has none in its currency. */
export function dayLimitOf(
  merchant: { readonly id: string; readonly limits: AmountLimits },
  currency: string,
  now: Date,
): DayLimit | undefined {
  const minor = merchant.limits.perDayMaxMinor?.[currency];
  if (minor === undefined) return undefined;
  return {
    id: `${merchant.id}:${currency}:${now.toISOString().slice(0, 10)}`,
    max: minor,
    currency,
    forgetAtMs: now.getTime() + KEPT_DAYS * DAY_MS,
  };
}
