import type { OutgoingEvent } from '@pesewa/messaging';
import type { DeliveryChange } from './store.ts';

/** The published event of a change; undefined for an internal one. */
export function deliveryEventOf(
  { delivery, state, attempt }: DeliveryChange,
  nowMs: number,
): OutgoingEvent | undefined {
  if (state !== 'delivered' && state !== 'exhausted') return undefined;
  const { _id: deliveryId, merchantId, reference, causationId, traceparent } = delivery;
  const attempts = delivery.attempts + (attempt === undefined ? 0 : 1);
  return {
    topic: 'webhooks',
    key: merchantId,
    version: BigInt(attempts),
    causationId,
    ...(traceparent !== undefined && { traceparent }),
    type: state === 'delivered' ? 'pesewa.webhooks.WebhookDelivered' : 'pesewa.webhooks.WebhookExhausted',
    payload: { occurredAt: BigInt(nowMs), deliveryId, merchantId, reference, attempts },
  };
}
