import type { PayoutOrder as RailOrder } from '@pesewa/rails';
import type { PayoutOrder } from './domain/submission.ts';

/**
 * A payout as its rail gets it: with our reference and without invented values. An item of a batch may lack fields that
 * contract 2.2 requires of a single payout; the connector decides how it is sent then.
 */
export function railOrder(reference: string, order: PayoutOrder): RailOrder {
  const { merchantReference: _theirs, amount, ...rest } = order;
  return { ...rest, reference, currency: amount.currency, amount: amount.minor };
}
