import type { Batch, Payment } from './world.ts';

/** What a merchant's reference is unique within. */
export function nameOf({
  merchantId,
  api,
  reference,
}: {
  readonly merchantId: string;
  readonly api: string;
  readonly reference: string;
}): string {
  return `${merchantId}/${api}/${reference}`;
}

/** The name of a payment. */
export function nameOfPayment({ merchantId, api, merchantReference }: Payment): string {
  return nameOf({ merchantId, api, reference: merchantReference });
}

/** The name of a batch: its reference is in the space of references of payouts. */
export function nameOfBatch({ merchantId, merchantReference }: Batch): string {
  return nameOf({ merchantId, api: 'payout', reference: merchantReference });
}
