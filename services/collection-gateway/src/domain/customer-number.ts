/** How many last digits tell one customer of a country from another, whatever stands before them. */
const significantDigits: ReadonlyMap<string, number> = new Map([
  ['GM', 7],
  ['GH', 9],
  ['CI', 8],
  ['KE', 9],
]);

/**
 * One text for all spellings of a customer's number in a country of two letters: `+233241234567`, `00233241234567`,
 * `0241234567` and `233241234567` are one, and so is whatever else a rail may make the same number of.
 *
 * It is for counting, never for calling: what travels is the merchant's own spelling.
 */
export function canonicalNumber(text: string, country: string): string {
  const digits = text.replace(/\D/g, '');
  return `${country}${digits.slice(-(significantDigits.get(country) ?? digits.length))}`;
}
