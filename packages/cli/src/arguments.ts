import { countryCode, currencyCode } from '@pesewa/contracts';
import { parseAmount } from '@pesewa/kernel';
import { CliError } from './errors.ts';

/** Adds one more value of an option that may be given several times. */
export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

/** Reads a currency, in any case. */
export function readCurrency(field: string, text: string): string {
  const currency = currencyCode(text);
  if (currency === undefined)
    throw new CliError(`${field}: ${text} is no currency: write an ISO 4217 code such as GHS`);
  return currency;
}

/** Reads a country by name or code, as its three letters. */
export function readCountry(field: string, text: string): string {
  const country = countryCode(text);
  if (country === undefined)
    throw new CliError(`${field}: ${text} is no country: write a name or an ISO 3166 code such as GHA`);
  return country;
}

/** Reads a positive amount in major units; its text goes on as it was written. */
export function readPositiveAmount(field: string, text: string, currency: string): string {
  const amount = parseAmount(text, currency);
  if (amount.ok && amount.value.minor > 0n) return text;
  throw new CliError(
    `${field}: ${text} can't be moved: write a positive decimal number no finer than ${currency} allows`,
  );
}

/** Splits `left:right`, both present. */
export function readPair(field: string, text: string, form: string): readonly [string, string] {
  const [left, right, ...more] = text.split(':');
  if (left && right && more.length === 0) return [left, right];
  throw new CliError(`${field}: ${text} is malformed: write ${form}`);
}

/** Reads a whole number of at least one. */
export function readCount(field: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CliError(`${field}: ${text} is no count: write a whole number from 1`);
}
