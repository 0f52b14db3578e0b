import { subscriberDigits } from '@pesewa/contracts';

/**
 * A canonical form of a customer's number in a country of two letters: `+233241234567`, `00233241234567`, `0241234567`
 * and `233241234567` are the same, as is any other form in which a rail may accept the number.
 *
 * It is only for counting: the merchant's own spelling is what is sent to the rail.
 */
export function canonicalNumber(text: string, country: string): string {
  return `${country}${subscriberDigits(text, country)}`;
}
