import { currencyExponent, isCurrency } from './currency.ts';
import { memoise } from './memoise.ts';
import { accept, type Result, refuse, unreachable } from './result.ts';

/** An exact amount: whole minor units of one currency. */
export interface Money {
  readonly minor: bigint;
  readonly currency: string;
}

/** Why a decimal text is not an amount. */
export type AmountRefusal = 'amount.malformed' | 'amount.too_fine' | 'amount.too_large';

/** Why a decimal text is not an amount that can be moved. */
export type PositiveAmountRefusal = AmountRefusal | 'amount.not_positive';

/** The largest amount of minor units that every consumer of our topics reads exactly (2^53 − 1). */
export const MINOR_UNITS_MAX = 9_007_199_254_740_991n;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const MINOR_DIGITS_MAX = MINOR_UNITS_MAX.toString().length;

/**
 * Reads the text of a JSON number as an amount, by its value: `20`, `20.00` and `2e1` are the same amount. An amount
 * finer than the currency's minor unit is refused rather than rounded (contract 10.4).
 */
export function parseAmount(text: string, currency: string): Result<Money, AmountRefusal> {
  const match = DECIMAL.exec(text);
  if (!match) return refuse('amount.malformed');
  const [, sign = '', whole = '', fraction = '', power = '0'] = match;
  const digits = significant(whole + fraction);
  if (digits.text === '') return accept({ minor: 0n, currency });
  const shift = Number(power) - fraction.length + digits.zerosBehind + currencyExponent(currency);
  // The last digit is not zero, so that nothing but a fraction of a minor unit can be behind the point.
  if (shift < 0) return refuse('amount.too_fine');
  if (digits.text.length + shift > MINOR_DIGITS_MAX) return refuse('amount.too_large');
  const minor = BigInt(digits.text) * 10n ** BigInt(shift);
  if (minor > MINOR_UNITS_MAX) return refuse('amount.too_large');
  return accept({ minor: sign === '-' ? -minor : minor, currency });
}

/** The digits without the zeros around them, by loops: a pattern would take quadratic time on a hostile text. */
function significant(digits: string): { readonly text: string; readonly zerosBehind: number } {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  let start = 0;
  while (start < end && digits[start] === '0') start += 1;
  return { text: digits.slice(start, end), zerosBehind: digits.length - end };
}

/** Reads an amount that can be moved: {@link parseAmount}, above zero (contract 10.4). */
export function parsePositiveAmount(text: string, currency: string): Result<Money, PositiveAmountRefusal> {
  const amount = parseAmount(text, currency);
  const isNotPositive = amount.ok ? amount.value.minor <= 0n : DECIMAL.exec(text)?.[1] === '-';
  return isNotPositive ? refuse('amount.not_positive') : amount;
}

/** What an amount must be, to follow the name of its field: the one rule that it breaks, in its currency's terms if that is known. */
export function amountProblem(refusal: PositiveAmountRefusal, currency?: string): string {
  switch (refusal) {
    case 'amount.malformed':
      return 'must be a decimal number, such as 2500';
    case 'amount.not_positive':
      return 'must be greater than zero';
    case 'amount.too_fine': {
      if (currency === undefined) return 'must have no more decimals than its currency';
      const decimals = currencyExponent(currency);
      return `must have ${decimals === 0 ? 'no' : `at most ${decimals}`} decimals in ${currency}`;
    }
    case 'amount.too_large':
      return currency === undefined
        ? `must be at most ${MINOR_UNITS_MAX.toLocaleString('en-GB')} of the smallest units of its currency`
        : `must be at most ${displayAmount(MINOR_UNITS_MAX, currency)}`;
    default:
      return unreachable(refusal);
  }
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

/** The formats of amounts with so many digits at least after the point. */
const formatsOf = memoise((minimumFractionDigits: number) => {
  const of = (signDisplay: 'negative' | 'exceptZero') =>
    new Intl.NumberFormat('en-GB', { minimumFractionDigits, signDisplay });
  return { negative: of('negative'), exceptZero: of('exceptZero') };
});

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
  return `${formatsOf(digits)[signDisplay].format(text as `${number}`)} ${currency}`;
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
