import type { PayoutOrder as RailOrder } from '@pesewa/rails';
import type { PayoutOrder } from './domain/submission.ts';

/**
 * A payout as its rail gets it: under our reference, and nothing made up. An item of a batch may lack what contract 2.2
 * asks of a single payout; how it goes out then is the connector's to know.
 */
export function railOrder(reference: string, order: PayoutOrder): RailOrder {
  const { merchantReference: _theirs, amount, ...rest } = order;
  return { ...rest, reference, currency: amount.currency, amount: amount.minor };
}
