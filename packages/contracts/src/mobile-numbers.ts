import examples from 'libphonenumber-js/mobile/examples';
import { twoLetterCode } from './iso-codes.ts';

const exampleOf: Readonly<Record<string, string | undefined>> = examples;

/**
 * The digits that tell a mobile number apart from all others of its country (a code of two or three letters), however it
 * is spelt: as many last ones as a number has by the country's numbering plan, or all of them if it has no plan.
 *
 * Whatever stands before them, a rail may make the same number of it. The zero with which every mobile number of a few
 * plans begins (Cote d'Ivoire, Benin) is left out, because people take it for a trunk prefix.
 */
export function subscriberDigits(text: string, country: string): string {
  const digits = text.replace(/\D/g, '');
  const example = exampleOf[country.length === 3 ? (twoLetterCode(country) ?? country) : country];
  return example === undefined ? digits : digits.slice(-example.replace(/^0/, '').length);
}
