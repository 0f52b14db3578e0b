import { walletKeyOf } from '@pesewa/contracts';
import { type Clock, type Ids, unreachable } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { CollectionHappening } from './domain/state.ts';
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
export function createCollectionEvents(deps: {
  readonly ids: Ids;
  readonly clock: Pick<Clock, 'nowMs'>;
}): CollectionEvents {
  const common = (collection: Collection) => ({
    eventId: deps.ids.next('ev'),
    occurredAt: BigInt(deps.clock.nowMs()),
    reference: collection.reference,
    merchantReference: collection.order.merchantReference,
    merchantId: collection.merchantId,
    currency: collection.order.amount.currency,
    rail: collection.rail,
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
      const to = address(after, causationId);
      switch (happening.kind) {
        case 'initiationAccepted':
        case 'initiationUnclear':
        case 'requeued':
        case 'completionAccepted':
        case 'completionRefused':
        case 'completionReturned':
          return undefined;
        case 'completionRequested': {
          const payload = { ...common(after), attempt: after.completionAttempts };
          return { ...to, type: 'pesewa.collections.CollectionCompletionRequested', payload };
        }
        case 'completionClosed': {
          const payload = { ...common(after), attempts: after.completionAttempts };
          return { ...to, type: 'pesewa.collections.CollectionCompletionClosed', payload };
        }
        case 'completed': {
          const { amountReceived, fee, railFee } = happening;
          const payload = { ...common(after), ...origin(after), amountReceived, fee, railFee };
          return { ...to, type: 'pesewa.collections.CollectionCompleted', payload };
        }
        case 'failed': {
          const payload = { ...common(after), ...origin(after), failureReason: happening.reason };
          return { ...to, type: 'pesewa.collections.CollectionFailed', payload };
        }
        default:
          return unreachable(happening);
      }
    },
  };
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
  };
}
