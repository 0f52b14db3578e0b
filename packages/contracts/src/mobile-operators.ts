/** How a customer completes a collection (contract 2.8). */
export type CompletionFlow =
  | { readonly kind: 'link' }
  | { readonly kind: 'stk' }
  | { readonly kind: 'stkThenComplete' }
  | { readonly kind: 'otp'; readonly otpLength: 4 | 6 };

/** A mobile money operator: where it works and how its customers complete a collection. */
export interface MobileOperator {
  readonly code: string;
  readonly country: 'GM' | 'GH' | 'CI' | 'KE';
  readonly currency: 'GMD' | 'GHS' | 'XOF' | 'KES';
  readonly flows: { readonly highRisk: CompletionFlow; readonly lowRisk: CompletionFlow };
}

const link: CompletionFlow = { kind: 'link' };
const stk: CompletionFlow = { kind: 'stk' };
const stkThenComplete: CompletionFlow = { kind: 'stkThenComplete' };
const otp4: CompletionFlow = { kind: 'otp', otpLength: 4 };
const otp6: CompletionFlow = { kind: 'otp', otpLength: 6 };

const same = (flow: CompletionFlow) => ({ highRisk: flow, lowRisk: flow });
const ghana = { country: 'GH', currency: 'GHS', flows: { highRisk: stk, lowRisk: otp6 } } as const;
const gambia = { country: 'GM', currency: 'GMD' } as const;
const ivoryCoast = { country: 'CI', currency: 'XOF' } as const;

/** Every mobile operator in the contract's table; KESAF is treated as a single-step STK push (contract 2.8, ADR 19). */
export const mobileOperators: readonly MobileOperator[] = [
  { code: 'GMWAV', ...gambia, flows: same(link) },
  { code: 'GMAFR', ...gambia, flows: same(stkThenComplete) },
  { code: 'GMQMO', ...gambia, flows: same(otp6) },
  { code: 'GHMTN', ...ghana },
  { code: 'GHATL', ...ghana },
  { code: 'GHVOD', ...ghana },
  { code: 'CIWAV', ...ivoryCoast, flows: same(link) },
  { code: 'CIMOO', ...ivoryCoast, flows: same(stk) },
  { code: 'CIMTN', ...ivoryCoast, flows: same(stk) },
  { code: 'CIORA', ...ivoryCoast, flows: same(otp4) },
  { code: 'KESAF', country: 'KE', currency: 'KES', flows: same(stk) },
];

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

/** The requestHeader.requestType a country asks for: `B` in the Gambia, `Collections` elsewhere (contract 2.8). */
export function requestTypeOf(country: MobileOperator['country']): 'B' | 'Collections' {
  return country === 'GM' ? 'B' : 'Collections';
}
