import { webhookIdOf } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import { handleTopic, type TopicHandler } from '@pesewa/messaging';
import { collectionBody, payoutBody } from './bodies.ts';
import type { Deliveries } from './deliveries.ts';
import type { DeliveryKind } from './domain/delivery.ts';
import type { NewDelivery } from './store.ts';

const payoutKinds = {
  'pesewa.payouts.PayoutCompleted': 'payout-completed',
  'pesewa.payouts.PayoutFailed': 'payout-failed',
  'pesewa.payouts.PayoutReversed': 'payout-reversed',
} as const;

const collectionKinds = {
  'pesewa.collections.CollectionCompleted': 'collection-completed',
  'pesewa.collections.CollectionFailed': 'collection-failed',
} as const;

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
      const bornAtMs = deps.clock.nowMs();
      const deliveries = events.map(
        (event): NewDelivery => ({
          ...owed(event, payoutKinds[event.type]),
          body: payoutBody(event),
          webhookUrl: null,
          bulkhead: bulkheadOf(event.payload.merchantId, 'payouts'),
          bornAtMs,
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
      const bornAtMs = deps.clock.nowMs();
      const deliveries = events.map(
        (event): NewDelivery => ({
          ...owed(event, collectionKinds[event.type]),
          body: collectionBody(event),
          webhookUrl: event.payload.webhookUrl,
          bulkhead: bulkheadOf(event.payload.merchantId, originOf(event.payload.webhookUrl) ?? 'collections'),
          bornAtMs,
        }),
      );
      await deps.deliveries.create(deliveries, transaction);
    },
  );
  return [payouts, collections];
}

const endOf = {
  'payout-completed': 'completed',
  'payout-failed': 'failed',
  'payout-reversed': 'reversed',
  'collection-completed': 'completed',
  'collection-failed': 'failed',
} as const satisfies Record<DeliveryKind, string>;

interface PaymentEvent {
  readonly eventId: string;
  readonly traceparent?: string | undefined;
  readonly payload: {
    readonly reference: string;
    readonly merchantReference: string;
    readonly merchantId: string;
  };
}

function owed({ eventId, traceparent, payload }: PaymentEvent, kind: DeliveryKind) {
  const { reference, merchantReference, merchantId } = payload;
  const origin = { causationId: eventId, ...(traceparent !== undefined && { traceparent }) };
  const _id = webhookIdOf(reference, endOf[kind]);
  return { _id, reference, merchantReference, merchantId, kind, ...origin };
}

function bulkheadOf(merchantId: string, endpoint: string): string {
  return `${merchantId} ${endpoint}`;
}

function originOf(url: string | null): string | undefined {
  return url !== null && URL.canParse(url) ? new URL(url).origin : undefined;
}
