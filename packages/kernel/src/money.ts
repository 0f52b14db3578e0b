import { currencyExponent, isCurrency } from './currency.ts';
import { accept, type Result, refuse } from './result.ts';

/** An exact amount: whole minor units of one currency. */
export interface Money {
  readonly minor: bigint;
  readonly currency: string;
}

/** Why a decimal text is not an amount. */
export type AmountRefusal = 'amount.malformed' | 'amount.too_fine' | 'amount.too_large';

/** The largest amount of minor units that every consumer of our topics reads exactly (2^53 − 1). */
export const MINOR_UNITS_MAX = 9_007_199_254_740_991n;

const DECIMAL = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,3}))?$/;
const SCALE_MAX = 60;

/**
 * Reads the text of a JSON number as an amount, by its value: `20`, `20.00` and `2e1` are the same amount. An amount
 * finer than the currency's minor unit is refused rather than rounded (contract 10.4).
 */
export function parseAmount(text: string, currency: string): Result<Money, AmountRefusal> {
  const match = DECIMAL.exec(text);
  if (!match) return refuse('amount.malformed');
  const [, sign = '', whole = '', fraction = '', power = '0'] = match;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return accept({ minor: 0n, currency });
  const shift = Number(power) - fraction.length + currencyExponent(currency);
  if (shift > SCALE_MAX) return refuse('amount.too_large');
  if (shift < -SCALE_MAX * 2) return refuse('amount.too_fine');
  const minor = scale(digits, shift);
  if (minor === undefined) return refuse('amount.too_fine');
  if (minor > MINOR_UNITS_MAX) return refuse('amount.too_large');
  return accept({ minor: sign === '-' ? -minor : minor, currency });
}

/** Multiplies by a power of ten; undefined if digits would be lost. */
function scale(digits: bigint, shift: number): bigint | undefined {
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return digits % divisor === 0n ? digits / divisor : undefined;
}

/** Writes an amount as its shortest plain decimal text: 10050 minor units of KES are `100.5`. */
export function formatAmount(minor: bigint, currency: string): string {
  const exponent = currencyExponent(currency);
  const sign = minor < 0n ? '-' : '';
  const digits = (minor < 0n ? -minor : minor).toString().padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent);
  const fraction = digits.slice(digits.length - exponent).replace(/0+$/, '');
  return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}

const PLAIN = /^-?\d{1,40}(?:\.\d{1,40})?$/;

/**
 * An amount with its currency as people read it: 123456700 minor units of NGN, or the text `1234567`, are
 * `1,234,567.00 NGN`. No digit is lost, and a text that is no amount, such as a rail's claim, stays as it is.
 */
export function displayAmount(
  amount: bigint | string,
  currency: string,
  signDisplay: 'negative' | 'exceptZero' = 'negative',
): string {
  const text = typeof amount === 'bigint' ? formatAmount(amount, currency) : amount;
  if (!isCurrency(currency) || !PLAIN.test(text)) return `${text} ${currency}`.trimEnd();
  const digits = Math.max(currencyExponent(currency), text.split('.', 2)[1]?.length ?? 0);
  const format = new Intl.NumberFormat('en-GB', { minimumFractionDigits: digits, signDisplay });
  return `${format.format(text as `${number}`)} ${currency}`;
}

/** A price for moving money: fixed plus a share, kept between two bounds; all in minor units. */
export interface FeeSchedule {
  readonly fixedMinor: bigint;
  /** Hundredths of a percent: 50 is 0.5 %. */
  readonly basisPoints: bigint;
  readonly minimumMinor: bigint;
  /** Absent means unbounded. */
  readonly maximumMinor?: bigint | undefined;
}

const BASIS = 10_000n;

/** The fee for an amount, rounded half up in minor units (contract 10.7). */
export function feeFor(schedule: FeeSchedule, amountMinor: bigint): bigint {
  const share = (amountMinor * schedule.basisPoints * 2n + BASIS) / (BASIS * 2n);
  const fee = schedule.fixedMinor + share;
  if (fee < schedule.minimumMinor) return schedule.minimumMinor;
  if (schedule.maximumMinor !== undefined && fee > schedule.maximumMinor) return schedule.maximumMinor;
  return fee;
}
