import type { OutgoingPayout } from '@pesewa/rails';
import type { PayoutRequest } from './domain/submission.ts';

/**
 * A payout as its rail gets it: with our reference and without invented values. An item of a batch may lack fields that
 * contract 2.2 requires of a single payout; the connector decides how it is sent then.
 */
export function outgoingPayout(reference: string, request: PayoutRequest): OutgoingPayout {
  const { merchantReference: _theirs, amount, ...details } = request;
  return { ...details, reference, currency: amount.currency, amount: amount.minor };
}
