import { type CollectionCountry, type ServedCurrency, servedCountries } from './countries.ts';

/** How a customer completes a collection (contract 2.8). */
export type CompletionFlow =
  | { readonly kind: 'link' }
  | { readonly kind: 'stk' }
  | { readonly kind: 'stkThenComplete' }
  | { readonly kind: 'otp'; readonly otpLength: 4 | 6 };

/** A mobile money operator: where it works and how its customers complete a collection. */
export interface MobileOperator {
  readonly code: string;
  readonly country: CollectionCountry;
  readonly currency: ServedCurrency;
  readonly flows: { readonly highRisk: CompletionFlow; readonly lowRisk: CompletionFlow };
  /** How the numbers that it was given begin, with the country's code; none if customers of all operators use it. */
  readonly numberPrefixes: readonly string[];
}

const link: CompletionFlow = { kind: 'link' };
const stk: CompletionFlow = { kind: 'stk' };
const stkThenComplete: CompletionFlow = { kind: 'stkThenComplete' };
const otp4: CompletionFlow = { kind: 'otp', otpLength: 4 };
const otp6: CompletionFlow = { kind: 'otp', otpLength: 6 };

const same = (flow: CompletionFlow) => ({ highRisk: flow, lowRisk: flow });
const ghana = { country: 'GH', flows: { highRisk: stk, lowRisk: otp6 } } as const;
/** Ranges of a numbering plan, as the carrier data of libphonenumber has them: the code of a country, and the digits after it. */
const prefixes = (country: string, text: string) => text.split(' ').map((digits) => `${country}${digits}`);

/**
 * Every mobile operator in the contract's table. KESAF is a single-step STK push: contract 2.8 shows how it begins, and no
 * completion.
 */
const contractTable: Readonly<
  Record<string, Pick<MobileOperator, 'country' | 'flows'> & Partial<Pick<MobileOperator, 'numberPrefixes'>>>
> = {
  GMWAV: { country: 'GM', flows: same(link) },
  GMAFR: { country: 'GM', flows: same(stkThenComplete), numberPrefixes: prefixes('220', '2 7') },
  GMQMO: { country: 'GM', flows: same(otp6), numberPrefixes: prefixes('220', '3') },
  GHMTN: { ...ghana, numberPrefixes: prefixes('233', '24 25 53 54 55 59') },
  GHATL: { ...ghana, numberPrefixes: prefixes('233', '26 27 56 57') },
  GHVOD: { ...ghana, numberPrefixes: prefixes('233', '20 50') },
  CIWAV: { country: 'CI', flows: same(link) },
  CIMOO: { country: 'CI', flows: same(stk), numberPrefixes: prefixes('225', '01') },
  CIMTN: { country: 'CI', flows: same(stk), numberPrefixes: prefixes('225', '05') },
  CIORA: { country: 'CI', flows: same(otp4), numberPrefixes: prefixes('225', '07') },
  KESAF: {
    country: 'KE',
    flows: same(stk),
    numberPrefixes: prefixes(
      '254',
      '70 71 72 740 741 742 743 745 746 748 757 758 759 768 769 79 110 111 112 113 114 115',
    ),
  },
};

/** Every mobile operator. */
export const mobileOperators: readonly MobileOperator[] = Object.entries(contractTable).map(
  ([code, { country, flows, numberPrefixes = [] }]) => {
    const { currency } = servedCountries[country];
    return { code, country, currency, flows, numberPrefixes };
  },
);

const byCode = new Map(mobileOperators.map((mobileOperator) => [mobileOperator.code, mobileOperator]));

/** The mobile operator of a code; undefined for an unknown one. */
export function findMobileOperator(code: string): MobileOperator | undefined {
  return byCode.get(code);
}

/** The flow of a mobile operator for a request's transactionType: `2` is low risk, anything else high (contract 2.8). */
export function completionFlow(
  mobileOperator: MobileOperator,
  transactionType: string | undefined,
): CompletionFlow {
  return transactionType === '2' ? mobileOperator.flows.lowRisk : mobileOperator.flows.highRisk;
}

/** Whether a customer of a mobile operator can pay an amount: above zero, and a multiple of the country's step. */
export function isPayable(minor: bigint, { country }: MobileOperator): boolean {
  return minor > 0n && minor % servedCountries[country].collections.amountStepMinor === 0n;
}
