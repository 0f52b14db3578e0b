import { isCurrency } from '@pesewa/kernel';
import countries from 'i18n-iso-countries';
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };

countries.registerLocale(english);

/** A country by its English name, two- or three-letter code, as its three-letter code; else nothing (design 9). */
export function countryCode(text: string): string | undefined {
  const name = text.trim();
  const upper = name.toUpperCase();
  if (/^[A-Z]{3}$/.test(upper) && countries.isValid(upper)) return upper;
  const twoLetters =
    /^[A-Z]{2}$/.test(upper) && countries.isValid(upper) ? upper : countries.getSimpleAlpha2Code(name, 'en');
  return twoLetters === undefined ? undefined : countries.alpha2ToAlpha3(twoLetters);
}

/** The two-letter code of a three-letter one, as the collection API writes countries. */
export function twoLetterCode(threeLetters: string): string | undefined {
  return countries.alpha3ToAlpha2(threeLetters);
}

/** A currency code in capitals, whatever case it came in; else nothing. */
export function currencyCode(text: string): string | undefined {
  const upper = text.trim().toUpperCase();
  return isCurrency(upper) ? upper : undefined;
}
