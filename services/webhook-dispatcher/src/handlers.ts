import { paymentEnds, webhookIdOf } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import { handleTopic, type TopicHandler } from '@pesewa/messaging';
import type { Deliveries } from './deliveries.ts';
import { collectionBody, payoutBody } from './outgoing.ts';
import type { NewDelivery } from './store.ts';

/** The dispatcher's handlers: for each end of a payment the merchant is owed one webhook (contract 10.15). */
export function createHandlers(deps: {
  readonly deliveries: Deliveries;
  readonly clock: Clock;
}): readonly TopicHandler[] {
  const payouts = handleTopic(
    'payouts',
    {
      'pesewa.payouts.PayoutCompleted': 'handled',
      'pesewa.payouts.PayoutFailed': 'handled',
      'pesewa.payouts.PayoutReversed': 'handled',
      // Merchants get webhooks about ends only.
      'pesewa.payouts.PayoutAccepted': 'ignored',
      'pesewa.payouts.PayoutSubmitted': 'ignored',
    },
    async (events, transaction) => {
      const createdAtMs = deps.clock.nowMs();
      const deliveries = events.map(
        (event): NewDelivery => ({
          ...commonFieldsOf(event, paymentEnds[event.type]),
          kind: `payout-${paymentEnds[event.type]}`,
          body: payoutBody(event),
          webhookUrl: null,
          bulkhead: bulkheadOf(event.payload.merchantId, 'payouts'),
          createdAtMs,
        }),
      );
      await deps.deliveries.create(deliveries, transaction);
    },
  );
  const collections = handleTopic(
    'collections',
    {
      'pesewa.collections.CollectionCompleted': 'handled',
      'pesewa.collections.CollectionFailed': 'handled',
      // Merchants get webhooks about ends only.
      'pesewa.collections.CollectionInitiated': 'ignored',
      'pesewa.collections.CollectionCompletionRequested': 'ignored',
      'pesewa.collections.CollectionCompletionClosed': 'ignored',
    },
    async (events, transaction) => {
      const createdAtMs = deps.clock.nowMs();
      const deliveries = events.map(
        (event): NewDelivery => ({
          ...commonFieldsOf(event, paymentEnds[event.type]),
          kind: `collection-${paymentEnds[event.type]}`,
          body: collectionBody(event),
          webhookUrl: event.payload.webhookUrl,
          bulkhead: bulkheadOf(event.payload.merchantId, originOf(event.payload.webhookUrl) ?? 'collections'),
          createdAtMs,
        }),
      );
      await deps.deliveries.create(deliveries, transaction);
    },
  );
  return [payouts, collections];
}

interface PaymentEvent {
  readonly eventId: string;
  readonly traceparent?: string | undefined;
  readonly payload: {
    readonly reference: string;
    readonly merchantReference: string;
    readonly merchantId: string;
  };
}

function commonFieldsOf(
  { eventId, traceparent, payload }: PaymentEvent,
  end: Parameters<typeof webhookIdOf>[1],
) {
  const { reference, merchantReference, merchantId } = payload;
  const origin = { causationId: eventId, ...(traceparent !== undefined && { traceparent }) };
  return { _id: webhookIdOf(reference, end), reference, merchantReference, merchantId, ...origin };
}

function bulkheadOf(merchantId: string, endpoint: string): string {
  return `${merchantId} ${endpoint}`;
}

function originOf(url: string | null): string | undefined {
  return url !== null && URL.canParse(url) ? new URL(url).origin : undefined;
}
