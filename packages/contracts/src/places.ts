import { isCurrency } from '@pesewa/kernel';
// Not its front door, which loads the names in every language.
import countries from 'i18n-iso-countries/index.js';
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };

countries.registerLocale(english);

/** Without accents, curly apostrophes, capitals and superfluous spaces: how merchants differ in writing a name. */
const plain = (name: string): string =>
  name
    .trim()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/\s+/g, ' ')
    .toLowerCase();

/** Every spelling that names a country, to its three-letter code; made once, since a look-up is on the hot path. */
const bySpelling: ReadonlyMap<string, string> = new Map(
  Object.entries(countries.getNames('en', { select: 'all' })).flatMap(([twoLetters, names]) => {
    const code = countries.alpha2ToAlpha3(twoLetters);
    if (code === undefined) return [];
    return [twoLetters, code, ...[names].flat()].map((spelling) => [plain(spelling), code] as const);
  }),
);

/** A country by its English name, two- or three-letter code, as its three-letter code; else nothing (contract 10.5). */
export function countryCode(text: string): string | undefined {
  return bySpelling.get(plain(text));
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
