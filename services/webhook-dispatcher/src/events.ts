import type { Clock } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { DeliveryChange } from './store.ts';

/** Converts the ends of deliveries into events of webhooks.events. */
export interface DeliveryEvents {
  /** The published event of a change; undefined for an internal one. */
  readonly eventOf: (change: DeliveryChange) => OutgoingEvent | undefined;
}

/** Builds {@link DeliveryEvents}. */
export function createDeliveryEvents(deps: { readonly clock: Pick<Clock, 'nowMs'> }): DeliveryEvents {
  return {
    eventOf: ({ delivery, state, attempt }) => {
      if (state !== 'delivered' && state !== 'exhausted') return undefined;
      const attempts = delivery.attempts + (attempt === undefined ? 0 : 1);
      return {
        topic: 'webhooks',
        key: delivery.merchantId,
        version: BigInt(attempts),
        causationId: delivery.causationId,
        ...(delivery.traceparent !== undefined && { traceparent: delivery.traceparent }),
        type: state === 'delivered' ? 'pesewa.webhooks.WebhookDelivered' : 'pesewa.webhooks.WebhookExhausted',
        payload: {
          occurredAt: BigInt(deps.clock.nowMs()),
          deliveryId: delivery._id,
          merchantId: delivery.merchantId,
          reference: delivery.reference,
          attempts,
        },
      };
    },
  };
}
