import type { OutgoingEvent } from '@pesewa/messaging';

/** The currency of every wallet of these tests. */
export const CURRENCY = 'KES';

/** The rail of every payment of these tests. */
export const RAIL = 'upstream';

const type = {
  accepted: 'PayoutAccepted',
  completed: 'PayoutCompleted',
  failed: 'PayoutFailed',
  reversed: 'PayoutReversed',
} as const;

/** The events that a payouts' owner publishes about a payout; another round is the same news under another event id. */
export function payout(
  kind: keyof typeof type,
  merchantId: string,
  reference: string,
  amount: bigint,
  round = 1,
): OutgoingEvent {
  const payload = {
    eventId: `ev-${reference}-${kind}-${round}`,
    occurredAt: 1n,
    reference,
    merchantReference: `m-${reference}`,
    merchantId,
    currency: CURRENCY,
    amount,
    fee: 10n,
    rail: RAIL,
    statusReason: 'reported',
  };
  const address = {
    topic: 'payouts',
    key: `${merchantId}:${CURRENCY}`,
    version: 1n,
    causationId: null,
  } as const;
  switch (kind) {
    case 'accepted': {
      const route = {
        country: 'KEN',
        channel: 'BANK',
        bankCode: '01',
        batchReference: null,
        contentCheck: '',
      };
      return { ...address, type: 'pesewa.payouts.PayoutAccepted', payload: { ...payload, ...route } };
    }
    case 'completed':
      return { ...address, type: 'pesewa.payouts.PayoutCompleted', payload: { ...payload, railFee: 5n } };
    case 'failed':
      return { ...address, type: 'pesewa.payouts.PayoutFailed', payload };
    case 'reversed':
      return { ...address, type: 'pesewa.payouts.PayoutReversed', payload };
    default:
      throw new TypeError(kind satisfies never);
  }
}

/** The event of a collection that was completed; rounds as for payouts. */
export function collected(
  merchantId: string,
  reference: string,
  amountReceived: bigint,
  round = 1,
): OutgoingEvent {
  return {
    topic: 'collections',
    key: `${merchantId}:${CURRENCY}`,
    version: 1n,
    causationId: null,
    type: 'pesewa.collections.CollectionCompleted',
    payload: {
      eventId: `ev-${reference}-${round}`,
      occurredAt: 1n,
      reference,
      merchantReference: `m-${reference}`,
      merchantId,
      currency: CURRENCY,
      amountReceived,
      fee: 20n,
      railFee: 3n,
      rail: RAIL,
      initiatedAt: 1n,
      webhookUrl: null,
    },
  };
}
