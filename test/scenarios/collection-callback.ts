import type { CollectionRequest } from '@pesewa/stack';

/** The body of a callback by which a rail claims that a collection is complete. */
export function completedCallback(
  { amount, currency }: Pick<CollectionRequest, 'amount' | 'currency'>,
  ourReference: string,
): string {
  return JSON.stringify({
    transaction_reference: 'upstream-1',
    transaction_status: 'Funds Received',
    transaction_fee: 0,
    amount_received: JSON.rawJSON(amount),
    initiated_date: '2026-01-01 00:00:00',
    current_status_date: '2026-01-01 00:00:01',
    received_from: {},
    merchant_reference: ourReference,
    status: 'COMPLETED',
    channel: 'MOBILE_MONEY',
    currency_code: currency,
  });
}
