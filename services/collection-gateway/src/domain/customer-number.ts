/** How many last digits distinguish the customers of a country; prefixes before them may differ. */
const significantDigits: ReadonlyMap<string, number> = new Map([
  ['GM', 7],
  ['GH', 9],
  ['CI', 8],
  ['KE', 9],
]);

/**
 * A canonical form of a customer's number in a country of two letters: `+233241234567`, `00233241234567`, `0241234567`
 * and `233241234567` are the same, as is any other form in which a rail may accept the number.
 *
 * It is only for counting: the merchant's own spelling is what is sent to the rail.
 */
export function canonicalNumber(text: string, country: string): string {
  const digits = text.replace(/\D/g, '');
  return `${country}${digits.slice(-(significantDigits.get(country) ?? digits.length))}`;
}
