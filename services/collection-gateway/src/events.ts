import { walletKeyOf } from '@pesewa/contracts';
import { unreachable } from '@pesewa/kernel';
import type { Cause, OutgoingEvent } from '@pesewa/messaging';
import type { CollectionDomainEvent } from './domain/state.ts';
import type { Collection } from './store.ts';

const common = (collection: Collection, atMs: number) => ({
  occurredAt: BigInt(atMs),
  reference: collection.reference,
  merchantReference: collection.order.merchantReference,
  merchantId: collection.merchantId,
  currency: collection.order.amount.currency,
  rail: collection.rail,
});

/** The event of a new collection; like all its events derived from the record alone, so that it can be repeated. */
export function initiatedEvent(collection: Collection): OutgoingEvent {
  return {
    ...address(collection, null),
    type: 'pesewa.collections.CollectionInitiated',
    payload: {
      ...common(collection, collection.acceptedAtMs),
      amount: collection.order.amount.minor,
      country: collection.order.country,
      operatorCode: collection.order.operatorCode,
    },
  };
}

/** The published event of a domain event; undefined for an internal one. `after` is the state after it. */
export function eventOf(
  domainEvent: CollectionDomainEvent,
  after: Collection,
  { causationId, atMs }: Cause,
): OutgoingEvent | undefined {
  const to = address(after, causationId);
  switch (domainEvent.kind) {
    case 'initiationAcknowledged':
    case 'initiationUnclear':
    case 'requeued':
    case 'completionAcknowledged':
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
}

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
