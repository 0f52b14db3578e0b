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
}

const link: CompletionFlow = { kind: 'link' };
const stk: CompletionFlow = { kind: 'stk' };
const stkThenComplete: CompletionFlow = { kind: 'stkThenComplete' };
const otp4: CompletionFlow = { kind: 'otp', otpLength: 4 };
const otp6: CompletionFlow = { kind: 'otp', otpLength: 6 };

const same = (flow: CompletionFlow) => ({ highRisk: flow, lowRisk: flow });
const ghana = { country: 'GH', flows: { highRisk: stk, lowRisk: otp6 } } as const;

/**
 * Every mobile operator in the contract's table. KESAF is a single-step STK push: contract 2.8 shows how it begins, and no
 * completion.
 */
const contractTable: Readonly<Record<string, Pick<MobileOperator, 'country' | 'flows'>>> = {
  GMWAV: { country: 'GM', flows: same(link) },
  GMAFR: { country: 'GM', flows: same(stkThenComplete) },
  GMQMO: { country: 'GM', flows: same(otp6) },
  GHMTN: ghana,
  GHATL: ghana,
  GHVOD: ghana,
  CIWAV: { country: 'CI', flows: same(link) },
  CIMOO: { country: 'CI', flows: same(stk) },
  CIMTN: { country: 'CI', flows: same(stk) },
  CIORA: { country: 'CI', flows: same(otp4) },
  KESAF: { country: 'KE', flows: same(stk) },
};

/** Every mobile operator. */
export const mobileOperators: readonly MobileOperator[] = Object.entries(contractTable).map(
  ([code, { country, flows }]) => ({ code, country, currency: servedCountries[country].currency, flows }),
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
