import { type ServedCountryCode, servedCountries } from '@pesewa/contracts';

/** A bank or mobile operator that payouts go to (contract 2.6). */
export interface Processor {
  readonly code: string;
  readonly name: string;
  readonly shortName: string;
  /** Three letters. */
  readonly country: string;
  readonly currency: string;
  readonly active: boolean;
  readonly blockTransaction: boolean;
}

type Row = readonly [code: string, shortName: string, name: string];

/** The processors of a country: in addition to the active ones, one that is inactive and one that is blocked. */
const inCountry = (country: string, currency: string, rows: readonly Row[]): readonly Processor[] => [
  ...rows.map(([code, shortName, name]) => ({
    code,
    shortName,
    name,
    country,
    currency,
    active: true,
    blockTransaction: false,
  })),
  {
    code: `${country}-OFF`,
    shortName: 'Dormant',
    name: 'Dormant Bank (inactive)',
    country,
    currency,
    active: false,
    blockTransaction: false,
  },
  {
    code: `${country}-BLOCKED`,
    shortName: 'Frozen',
    name: 'Frozen Bank (blocked)',
    country,
    currency,
    active: true,
    blockTransaction: true,
  },
];

const rows: Readonly<Record<ServedCountryCode, readonly Row[]>> = {
  NGA: [
    ['044', 'Access', 'Access Bank'],
    ['011', 'FirstBank', 'First Bank of Nigeria'],
    ['058', 'GTBank', 'Guaranty Trust Bank'],
    ['000013', 'GTBank', 'Guaranty Trust Bank (instant payment)'],
    ['033', 'UBA', 'United Bank for Africa'],
    ['057', 'Zenith', 'Zenith Bank'],
    ['999992', 'OPay', 'OPay Digital Services'],
    ['999991', 'PalmPay', 'PalmPay'],
  ],
  KEN: [
    ['01', 'KCB', 'KCB Bank Kenya'],
    ['03', 'Absa', 'Absa Bank Kenya'],
    ['11', 'Co-op', 'Co-operative Bank of Kenya'],
    ['68', 'Equity', 'Equity Bank Kenya'],
    ['KESAF', 'M-Pesa', 'Safaricom M-Pesa'],
    ['KEATL', 'Airtel', 'Airtel Money Kenya'],
  ],
  GHA: [
    ['300303', 'Absa', 'Absa Bank Ghana'],
    ['300304', 'GCB', 'GCB Bank'],
    ['300312', 'Ecobank', 'Ecobank Ghana'],
    ['GHMTN', 'MTN', 'MTN Mobile Money Ghana'],
    ['GHATL', 'AirtelTigo', 'AirtelTigo Money'],
    ['GHVOD', 'Telecel', 'Telecel Cash'],
  ],
  GMB: [
    ['GMTRB', 'Trust', 'Trust Bank Gambia'],
    ['GMECO', 'Ecobank', 'Ecobank Gambia'],
    ['GMWAV', 'Wave', 'Wave Gambia'],
    ['GMAFR', 'Afrimoney', 'Afrimoney Gambia'],
    ['GMQMO', 'QMoney', 'QMoney Gambia'],
  ],
  CIV: [
    ['CI008', 'SGCI', "Societe Generale Cote d'Ivoire"],
    ['CI059', 'Ecobank', "Ecobank Cote d'Ivoire"],
    ['CIWAV', 'Wave', "Wave Cote d'Ivoire"],
    ['CIORA', 'Orange', "Orange Money Cote d'Ivoire"],
    ['CIMTN', 'MTN', "MTN Mobile Money Cote d'Ivoire"],
    ['CIMOO', 'Moov', "Moov Money Cote d'Ivoire"],
  ],
  CMR: [
    ['CM10005', 'Afriland', 'Afriland First Bank'],
    ['CM10029', 'Ecobank', 'Ecobank Cameroun'],
    ['CMMTN', 'MTN', 'MTN Mobile Money Cameroun'],
    ['CMORA', 'Orange', 'Orange Money Cameroun'],
  ],
  ZAF: [
    ['632005', 'Absa', 'Absa Bank'],
    ['250655', 'FNB', 'First National Bank'],
    ['198765', 'Nedbank', 'Nedbank'],
    ['051001', 'Standard', 'Standard Bank of South Africa'],
    ['470010', 'Capitec', 'Capitec Bank'],
  ],
  EGY: [
    ['0002', 'Misr', 'Banque Misr'],
    ['0003', 'NBE', 'National Bank of Egypt'],
    ['0010', 'CIB', 'Commercial International Bank'],
    ['EGVOD', 'Vodafone', 'Vodafone Cash Egypt'],
    ['EGORA', 'Orange', 'Orange Cash Egypt'],
  ],
};

/** Every processor of the simulated upstream; each serves every channel of its country and currency (contract 10.5). */
const processors: readonly Processor[] = Object.values(servedCountries).flatMap(({ code, currency }) =>
  inCountry(code, currency, rows[code]),
);

/** The processors of a country, by its three letters. */
export function processorsIn(country: string): readonly Processor[] {
  return processors.filter((processor) => processor.country === country);
}

/** A processor by country and code; undefined if there is none. */
export function findProcessor(country: string, code: string): Processor | undefined {
  return processors.find((processor) => processor.country === country && processor.code === code);
}
