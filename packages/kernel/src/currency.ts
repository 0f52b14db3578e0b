import * as iso4217 from 'dinero.js/currencies';

const exponents: ReadonlyMap<string, number> = new Map(
  Object.values(iso4217).map((currency) => [currency.code, currency.exponent]),
);

/** Whether the text is an ISO 4217 currency code, in capitals. */
export function isCurrency(code: string): boolean {
  return exponents.has(code);
}

/** The number of decimal digits of a currency's minor unit (KES 2, XOF 0); an unknown code is breakage. */
export function currencyExponent(code: string): number {
  const exponent = exponents.get(code);
  if (exponent === undefined) throw new RangeError(`not an ISO 4217 currency: ${code}`);
  return exponent;
}
