import { parseAmount } from '@pesewa/kernel';
import type { Claim } from './claim.ts';
import type { Terms } from './tracked.ts';

/** An amount in the payment's currency, in minor units; null if the text is not an amount. */
export function readMinor(text: string | null, { currency }: Pick<Terms, 'currency'>): bigint | null {
  const amount = text === null ? undefined : parseAmount(text, currency);
  return amount?.ok === true ? amount.value.minor : null;
}

/**
 * A fee that the rail may have charged for the payment, in minor units; null if the text is no such fee.
 *
 * With a minimum in the schedule a fee may exceed a small amount, so the schedule's own fee is always accepted.
 */
export function readFee(text: string | null, terms: Terms): bigint | null {
  const fee = readMinor(text, terms);
  const most = terms.amount > terms.railFee ? terms.amount : terms.railFee;
  return fee !== null && fee >= 0n && fee <= most ? fee : null;
}

/** The currency that a claim names, in capitals; null if it names none. */
export function currencyOf({ currency }: Pick<Claim, 'currency'>): string | null {
  const code = currency?.trim().toUpperCase() ?? '';
  return code === '' ? null : code;
}
