import { walletKeyOf } from '@pesewa/contracts';
import { unreachable } from '@pesewa/kernel';
import type { Occasion, OutgoingEvent } from '@pesewa/messaging';
import type { CollectionDomainEvent } from './domain/state.ts';
import type { Collection } from './store.ts';

/** Converts a collection's domain events into events of collections.events. */
export interface CollectionEvents {
  readonly initiated: (collection: Collection) => OutgoingEvent;
  /** The published event of a domain event; undefined for an internal one. `after` is the state after it. */
  readonly eventOf: (
    domainEvent: CollectionDomainEvent,
    after: Collection,
    occasion: Occasion,
  ) => OutgoingEvent | undefined;
}

const common = (collection: Collection, atMs: number) => ({
  occurredAt: BigInt(atMs),
  reference: collection.reference,
  merchantReference: collection.order.merchantReference,
  merchantId: collection.merchantId,
  currency: collection.order.amount.currency,
  rail: collection.rail,
});

/**
 * The {@link CollectionEvents}. They are derived from the record alone, so that the same event published again is
 * identical.
 */
export const collectionEvents: CollectionEvents = {
  initiated: (collection) => ({
    ...address(collection, null),
    type: 'pesewa.collections.CollectionInitiated',
    payload: {
      ...common(collection, collection.acceptedAtMs),
      amount: collection.order.amount.minor,
      country: collection.order.country,
      operatorCode: collection.order.operatorCode,
    },
  }),
  eventOf: (domainEvent, after, { causationId, atMs }) => {
    const to = address(after, causationId);
    switch (domainEvent.kind) {
      case 'initiationAccepted':
      case 'initiationUnclear':
      case 'requeued':
      case 'completionAccepted':
      case 'completionRefused':
      case 'completionReturned':
        return undefined;
      case 'completionRequested': {
        const payload = { ...common(after, atMs), attempt: after.completionAttempts };
        return { ...to, type: 'pesewa.collections.CollectionCompletionRequested', payload };
      }
      case 'completionClosed': {
        const payload = { ...common(after, atMs), attempts: after.completionAttempts };
        return { ...to, type: 'pesewa.collections.CollectionCompletionClosed', payload };
      }
      case 'completed': {
        const { amountReceived, fee, railFee } = domainEvent;
        const payload = { ...common(after, atMs), ...origin(after), amountReceived, fee, railFee };
        return { ...to, type: 'pesewa.collections.CollectionCompleted', payload };
      }
      case 'failed': {
        const payload = { ...common(after, atMs), ...origin(after), failureReason: domainEvent.reason };
        return { ...to, type: 'pesewa.collections.CollectionFailed', payload };
      }
      default:
        return unreachable(domainEvent);
    }
  },
};

function origin(collection: Collection) {
  return {
    initiatedAt: BigInt(collection.acceptedAtMs),
    webhookUrl: collection.order.webhookUrl ?? null,
  };
}

function address(collection: Collection, causationId: string | null) {
  return {
    topic: 'collections' as const,
    key: walletKeyOf(collection.merchantId, collection.order.amount.currency),
    version: collection.version,
    causationId,
    traceparent: collection.traceparent,
  };
}
