/** What the collections of a country ask for, beyond what all of them do (contract 2.8 and 8). */
export interface CollectionTerms {
  readonly requestType: 'B' | 'Collections';
  readonly needsTransactionType: boolean;
  /** Amounts are multiples of it, in minor units. */
  readonly amountStepMinor: bigint;
}

/** A country that the hub serves. */
export interface ServedCountry {
  /** Three letters. */
  readonly code: string;
  readonly currency: string;
  /** Null where only payouts go. */
  readonly collections: CollectionTerms | null;
}

const common = { requestType: 'Collections', needsTransactionType: false, amountStepMinor: 1n } as const;

/** Every country that the hub serves, by its two letters. */
export const servedCountries = {
  GM: {
    code: 'GMB',
    currency: 'GMD',
    collections: { ...common, requestType: 'B' },
  },
  GH: {
    code: 'GHA',
    currency: 'GHS',
    collections: { ...common, needsTransactionType: true },
  },
  CI: {
    code: 'CIV',
    currency: 'XOF',
    collections: { ...common, amountStepMinor: 5n },
  },
  KE: {
    code: 'KEN',
    currency: 'KES',
    collections: { ...common, needsTransactionType: true },
  },
  CM: { code: 'CMR', currency: 'XAF', collections: null },
  NG: { code: 'NGA', currency: 'NGN', collections: null },
  ZA: { code: 'ZAF', currency: 'ZAR', collections: null },
  EG: { code: 'EGY', currency: 'EGP', collections: null },
} as const satisfies Readonly<Record<string, ServedCountry>>;

type Served = typeof servedCountries;

/** The two letters of a country that the hub serves. */
export type ServedCountryLetters = keyof Served;

/** The three letters of a country that the hub serves. */
export type ServedCountryCode = Served[keyof Served]['code'];

/** A currency of a country that the hub serves. */
export type ServedCurrency = Served[keyof Served]['currency'];

/** The two letters of a country with collections. */
export type CollectionCountry = {
  [Country in keyof Served]: Served[Country]['collections'] extends null ? never : Country;
}[keyof Served];

/** The countries with collections, two letters each. */
export const collectionCountries: readonly string[] = Object.entries<ServedCountry>(servedCountries).flatMap(
  ([country, { collections }]) => (collections === null ? [] : [country]),
);

/** What the collections of a country of two letters ask for; undefined if it has none. */
export function collectionTermsOf(country: string): CollectionTerms | undefined {
  const countries: Readonly<Record<string, ServedCountry>> = servedCountries;
  return (Object.hasOwn(countries, country) && countries[country]?.collections) || undefined;
}
