import {
  type CompletionFlow,
  collectionTermsOf,
  type JsonOf,
  jsonNumber,
  type MobileOperator,
} from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { currencyExponent, formatAmount } from '@pesewa/kernel';
import { nextStep } from './answers.ts';
import type { operatorsConfiguration } from './list-operations.ts';

/** What mobile operators take of a merchant's collections (contract 10.24). */
export function viewConfiguration(
  operators: readonly MobileOperator[],
  limits: Merchant['limits'],
): JsonOf<typeof operatorsConfiguration> {
  return { configuration: operators.map((operator) => viewOperator(operator, limits)) };
}

function viewOperator(
  { code: operatorCode, country, currency, flows, numberPrefixes }: MobileOperator,
  limits: Merchant['limits'],
) {
  const {
    requestType = '',
    needsTransactionType = false,
    amountStepMinor = 1n,
  } = collectionTermsOf(country) ?? {};
  const money = (minor: bigint) => jsonNumber(formatAmount(minor, currency));
  const limit = (minor: Readonly<Record<string, bigint>> | undefined) =>
    minor?.[currency] === undefined ? null : money(minor[currency]);
  return {
    operatorCode,
    country,
    currency,
    requestType,
    decimals: jsonNumber(String(currencyExponent(currency))),
    amountStep: money(amountStepMinor),
    minimumAmount: limit(limits.perCollectionMinMinor),
    maximumAmount: limit(limits.perCollectionMaxMinor),
    dailyMaximumAmount: limit(limits.collectionsPerDayMaxMinor),
    numberPrefixes: [...numberPrefixes],
    flows: needsTransactionType
      ? [viewFlow('1', flows.highRisk), viewFlow('2', flows.lowRisk)]
      : [viewFlow(null, flows.highRisk)],
  };
}

function viewFlow(transactionType: string | null, flow: CompletionFlow) {
  const { otpIsRequired, lengthOfOtp, paymentCompletionRequired, redirectionRequired } = nextStep(flow, '');
  return { transactionType, otpIsRequired, lengthOfOtp, paymentCompletionRequired, redirectionRequired };
}
