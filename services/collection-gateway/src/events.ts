import { walletKeyOf } from '@pesewa/contracts';
import { type Clock, type Ids, unreachable } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { CollectionHappening } from './domain/collection.ts';
import type { Collection } from './store.ts';

/** What turns a collection's happenings into events of collections.events. */
export interface CollectionEvents {
  readonly initiated: (collection: Collection) => OutgoingEvent;
  /** The event that others see of a happening, or nothing where it is ours alone; `after` is the state it led to. */
  readonly happened: (
    happening: CollectionHappening,
    after: Collection,
    causationId: string | null,
  ) => OutgoingEvent | undefined;
}

/** Builds {@link CollectionEvents}. */
export function createCollectionEvents(deps: { readonly ids: Ids; readonly clock: Clock }): CollectionEvents {
  const common = (collection: Collection) => ({
    eventId: deps.ids.next('ev'),
    occurredAt: BigInt(deps.clock.nowMs()),
    reference: collection.reference,
    merchantReference: collection.order.merchantReference,
    merchantId: collection.merchantId,
    currency: collection.order.amount.currency,
    rail: collection.rail,
  });
  const origin = (collection: Collection) => ({
    initiatedAt: BigInt(collection.acceptedAtMs),
    webhookUrl: collection.order.webhookUrl ?? null,
  });
  const address = (collection: Collection, causationId: string | null) => ({
    topic: 'collections' as const,
    key: walletKeyOf(collection.merchantId, collection.order.amount.currency),
    version: collection.version,
    causationId,
  });
  return {
    initiated: (collection) => ({
      ...address(collection, null),
      type: 'pesewa.collections.CollectionInitiated',
      payload: {
        ...common(collection),
        amount: collection.order.amount.minor,
        country: collection.order.country,
        operatorCode: collection.order.operatorCode,
      },
    }),
    happened: (happening, after, causationId) => {
      switch (happening.kind) {
        case 'initiationAccepted':
        case 'initiationUnclear':
        case 'requeued':
        case 'completionAccepted':
        case 'completionReturned':
          return undefined;
        case 'completionRequested':
          return {
            ...address(after, causationId),
            type: 'pesewa.collections.CollectionCompletionRequested',
            payload: { ...common(after), attempt: after.completionAttempts },
          };
        case 'completed':
          return {
            ...address(after, causationId),
            type: 'pesewa.collections.CollectionCompleted',
            payload: {
              ...common(after),
              ...origin(after),
              amountReceived: after.order.amount.minor,
              fee: after.fee,
              railFee: happening.railFee,
            },
          };
        case 'failed':
          return {
            ...address(after, causationId),
            type: 'pesewa.collections.CollectionFailed',
            payload: { ...common(after), ...origin(after), failureReason: happening.reason },
          };
        default:
          return unreachable(happening);
      }
    },
  };
}
