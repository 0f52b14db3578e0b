import { DAY_MS, displayAmount, type Money } from '@pesewa/kernel';

/** A limit on how often something may be done for one customer's number within an hour, by the UTC clock. */
export interface NumberLimit {
  /** What is counted, for whom, in which hour; does not contain the number itself. */
  readonly id: string;
  readonly max: bigint;
  /** Each time counts once. */
  readonly takes: bigint;
  /** Until the next hour begins. */
  readonly retryAfterSeconds: number;
  /** After this time the hour's count is not needed any more. */
  readonly forgetAtMs: number;
}

/** A limit this high means no limit, and nothing is counted. */
export const UNCOUNTED_FROM = 1_000_000;

const HOUR_MS = 3_600_000;

/** The limit that applies in this hour; undefined if there is none. */
export function numberLimit(terms: {
  /** What is counted and for whom; never text from outside. */
  readonly scope: string;
  /** A digest of the customer's number. */
  readonly numberDigest: string;
  readonly max: number;
  readonly nowMs: number;
}): NumberLimit | undefined {
  if (terms.max >= UNCOUNTED_FROM) return undefined;
  const hour = Math.floor(terms.nowMs / HOUR_MS);
  const endsAtMs = (hour + 1) * HOUR_MS;
  return {
    id: `${terms.scope}:${terms.numberDigest}:${hour}`,
    max: BigInt(terms.max),
    takes: 1n,
    retryAfterSeconds: Math.ceil((endsAtMs - terms.nowMs) / 1_000),
    forgetAtMs: endsAtMs + HOUR_MS,
  };
}

/** A merchant's limits on the amounts of collections, in minor units by currency; absent means unlimited. */
interface AmountLimits {
  readonly perCollectionMinMinor?: Readonly<Record<string, bigint>> | undefined;
  readonly perCollectionMaxMinor?: Readonly<Record<string, bigint>> | undefined;
  readonly collectionsPerDayMaxMinor?: Readonly<Record<string, bigint>> | undefined;
}

/** Why an amount is over or below a merchant's limits, with a description for the merchant. */
interface AmountRefusal {
  readonly reason: 'INVALID AMOUNT' | 'MERCHANT LIMIT EXCEEDED';
  readonly description: string;
}

/** The refusal of an amount below the merchant's minimum or over its limit for one collection; undefined within both. */
export function amountRefusal(limits: AmountLimits, { minor, currency }: Money): AmountRefusal | undefined {
  const min = limits.perCollectionMinMinor?.[currency];
  if (min !== undefined && minor < min) {
    const description = `transactionAmount is below your minimum per collection of ${displayAmount(min, currency)}`;
    return { reason: 'INVALID AMOUNT', description };
  }
  const max = limits.perCollectionMaxMinor?.[currency];
  if (max === undefined || minor <= max) return undefined;
  const description = `transactionAmount is over your limit per collection of ${displayAmount(max, currency)}`;
  return { reason: 'MERCHANT LIMIT EXCEEDED', description };
}

/** A limit on what a merchant may have accepted of collections within one UTC day, in one currency. */
export interface AmountDayLimit {
  /** For whom and for which day. */
  readonly id: string;
  /** Minor units of the currency. */
  readonly max: bigint;
  /** The amount of the collection. */
  readonly takes: bigint;
  /** After this time the day's count is not needed any more. */
  readonly forgetAtMs: number;
  readonly refusal: AmountRefusal;
}

const KEPT_DAYS = 40;

/** The daily limit that applies to a collection; undefined if the merchant has none in its currency. */
export function amountDayLimit(
  { id, limits }: { readonly id: string; readonly limits: AmountLimits },
  { minor: takes, currency }: Money,
  now: Date,
): AmountDayLimit | undefined {
  const max = limits.collectionsPerDayMaxMinor?.[currency];
  if (max === undefined) return undefined;
  const most = displayAmount(max, currency);
  return {
    id: `amount:${id}:${currency}:${now.toISOString().slice(0, 10)}`,
    max,
    takes,
    forgetAtMs: now.getTime() + KEPT_DAYS * DAY_MS,
    refusal: {
      reason: 'MERCHANT LIMIT EXCEEDED',
      description: `this would exceed your limit per day (UTC) of ${most}`,
    },
  };
}
