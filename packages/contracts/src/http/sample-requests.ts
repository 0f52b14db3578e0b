import {
  type CollectionCountry,
  type ServedCountryLetters,
  type ServedCurrency,
  servedCountries,
} from '../countries.ts';
import { jsonNumber } from '../json.ts';
import { findMobileOperator } from '../mobile-operators.ts';
import { collectionHeaders, moduleText } from './security-module.ts';

/** The fields of a payout that a caller chooses; the others are filled in. */
export interface SamplePayout {
  readonly reference: string;
  /** Decimal text, written into the body as a JSON number. */
  readonly amount: string;
  readonly currency?: string;
  readonly country?: string;
  /** By default one of the currency's processors. */
  readonly bankCode?: string;
  /** Its last four digits choose the simulator's behaviour (contract 10.18). */
  readonly accountNumber: string;
}

/** The fields of a collection that a caller chooses; the others are filled in. */
export interface SampleCollection {
  readonly reference: string;
  readonly amount: string;
  readonly operatorCode: string;
  readonly currency: string;
  readonly country: CollectionCountry;
  readonly customerNumber: string;
  /** By default `1` where the country asks for one. */
  readonly transactionType?: string | undefined;
}

/** A processor of each currency, which the simulator lists as active. */
export const bankCodes: Readonly<Record<string, string>> = {
  GMD: 'GMTRB',
  GHS: '300304',
  XOF: 'CI008',
  KES: '68',
  XAF: 'CM10005',
  NGN: '058',
  ZAR: '250655',
  EGP: '0003',
} satisfies Readonly<Record<ServedCurrency, string>>;

const mobileNumberStarts: Readonly<Record<CollectionCountry, string>> = {
  GM: '220700',
  GH: '23324123',
  CI: '225070123',
  KE: '25471234',
};

/** What a caller chooses of a sample; the last four digits of a number choose the simulator's behaviour. */
interface SampleTerms {
  readonly reference: string;
  readonly amount: string;
  readonly digits: string;
}

/** A payout to a bank of a country. */
export function samplePayout(letters: ServedCountryLetters, { digits, ...terms }: SampleTerms): SamplePayout {
  const { currency, code: country } = servedCountries[letters];
  return { ...terms, currency, country, accountNumber: `012345${digits}` };
}

/** A collection by a mobile operator; throws a `RangeError` for a code that is none. */
export function sampleCollection(
  operator: { readonly code: string; readonly transactionType: string | undefined },
  { digits, ...terms }: SampleTerms,
): SampleCollection {
  const { code: operatorCode, transactionType } = operator;
  const found = findMobileOperator(operatorCode);
  if (!found) throw new RangeError(`${operatorCode} is no mobile operator`);
  const { country, currency } = found;
  const customerNumber = `${mobileNumberStarts[country]}${digits}`;
  return { ...terms, operatorCode, transactionType, country, currency, customerNumber };
}

/** What contract 2.2 requires besides, by currency. */
const requiredBesides: Readonly<
  Record<
    string,
    { readonly transactionType?: string; readonly beneficiary?: object; readonly sender?: object }
  >
> = {
  KES: { transactionType: '1', sender: { countryCode: 'KEN', currencyCode: 'KES' } },
  XAF: {
    transactionType: '1',
    sender: { countryCode: 'CMR', currencyCode: 'XAF', phoneNumber: '237650000000' },
  },
  ZAR: {
    beneficiary: {
      accountType: 'savings',
      identificationType: 'passport',
      identificationNumber: 'A0000001',
    },
  },
  EGP: { beneficiary: { nationalIdNumber: '00000000000000' } },
} satisfies Partial<Record<ServedCurrency, object>>;

/** The body of a payout request. */
export function payoutBody(request: SamplePayout): string {
  const currency = request.currency ?? 'NGN';
  const { beneficiary, sender, ...besides } = requiredBesides[currency] ?? {};
  const body = {
    transactionReference: request.reference,
    country: request.country ?? 'Nigeria',
    currency,
    channel: 'Bank Transfer',
    ...besides,
    beneficiary: {
      accountName: 'Ama Mensah',
      accountNumber: request.accountNumber,
      bankCode: request.bankCode ?? bankCodes[currency] ?? '',
      amount: jsonNumber(request.amount),
      narration: 'Thank you',
      ...beneficiary,
    },
    sender: { name: 'Demo Merchant', phoneNumber: '', email: 'payouts@example.com', ...sender },
  };
  return JSON.stringify(body);
}

/** The body of a collection, with the customer's OTP if one is given. */
export function collectionBody(request: SampleCollection, otpCode?: string): string {
  const { requestType, needsTransactionType } = servedCountries[request.country].collections;
  return JSON.stringify({
    requestHeader: { clientId: '', requestType },
    customerName: 'Kofi Boateng',
    customerEmail: 'kofi@example.com',
    customerNumber: request.customerNumber,
    transactionReference: request.reference,
    transactionDescription: 'An order',
    transactionAmount: jsonNumber(request.amount),
    transactionCurrency: request.currency,
    transactionCountry: request.country,
    ...(needsTransactionType && { transactionType: request.transactionType ?? '1' }),
    successUrl: '',
    errorUrl: '',
    cancelUrl: '',
    operatorCode: request.operatorCode,
    webhookUrl: '',
    ...(otpCode !== undefined && { otpCode }),
  });
}

/** The headers of payin and complete-payin (contract 5). */
export function payinHeaders(publicKey: string, request: SampleCollection): Record<string, string> {
  return collectionHeaders(publicKey, moduleText({ ...request, number: request.customerNumber }));
}
