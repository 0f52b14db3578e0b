import { isCurrency, memoise } from '@pesewa/kernel';
// Not its main module, which would load the names in every language.
import countries from 'i18n-iso-countries/index.js';
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };

countries.registerLocale(english);

/** A name without accents, curly apostrophes, capitals and extra spaces, in which merchants' spellings differ. */
const plain = (name: string): string =>
  name
    .trim()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/\s+/g, ' ')
    .toLowerCase();

/** The three-letter code of a country by each of its spellings; built once, because look-ups are on the hot path. */
const bySpelling: ReadonlyMap<string, string> = new Map(
  Object.entries(countries.getNames('en', { select: 'all' })).flatMap(([twoLetters, names]) => {
    const code = countries.alpha2ToAlpha3(twoLetters);
    if (code === undefined) return [];
    return [twoLetters, code, ...[names].flat()].map((spelling) => [plain(spelling), code] as const);
  }),
);

/**
 * The three-letter code of a country, by its English name, two- or three-letter code; undefined for any other text
 * (contract 10.5).
 */
export function countryCode(text: string): string | undefined {
  return bySpelling.get(plain(text));
}

/** The two-letter code of a three-letter one, as the collection API writes countries. */
export function twoLetterCode(threeLetters: string): string | undefined {
  return countries.alpha3ToAlpha2(threeLetters);
}

/** A currency code in capitals, from any case; undefined for any other text. */
export function currencyCode(text: string): string | undefined {
  const upper = text.trim().toUpperCase();
  return isCurrency(upper) ? upper : undefined;
}

const symbolFormatOf = memoise(
  (currency: string) =>
    new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' }),
);

/** A currency's symbol as HTML character references: `&#8358;` for NGN (contract 2.5). */
export function currencyHtml(currency: string): string {
  const parts = symbolFormatOf(currency).formatToParts(0);
  const symbol = parts.find(({ type }) => type === 'currency')?.value ?? currency;
  return Array.from(symbol, (character) => `&#${character.codePointAt(0) ?? 0};`).join('');
}
