import type { PayoutOrder as RailOrder } from '@pesewa/rails';
import type { PayoutOrder } from './domain/submission.ts';

/** The currencies whose sender must name a country and a currency (contract 2.2). */
const senderPlaceCurrencies: ReadonlySet<string> = new Set(['KES', 'XAF']);

/**
 * A payout as its rail gets it, under our reference.
 *
 * Contract 2.2 asks a KES or XAF payout for the sender's country and currency, which the items of a batch need not
 * carry (design 9): where they are absent, the payout's own stand in, since its sender pays in that wallet's currency.
 * Nothing else is made up: what a rail still misses it refuses, and the item fails with the rail's reason.
 */
export function railOrder(reference: string, order: PayoutOrder): RailOrder {
  const { currency, minor } = order.amount;
  const { countryCode, currencyCode } = order.sender;
  return {
    reference,
    country: order.country,
    currency,
    channel: order.channel,
    transactionType: order.transactionType,
    amount: minor,
    beneficiary: order.beneficiary,
    sender: senderPlaceCurrencies.has(currency)
      ? {
          ...order.sender,
          countryCode: countryCode ?? order.country,
          currencyCode: currencyCode ?? currency,
        }
      : order.sender,
  };
}
