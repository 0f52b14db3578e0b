import type { OutgoingEvent, Transaction } from '@pesewa/messaging';
import type { CollectionEvents } from './events.ts';
import type { Collection, CollectionStore } from './store.ts';

/** Publishes again what the records of collections prove, within the transaction; the records don't change (ADR 42). */
export type Republish = (references: readonly string[], transaction: Transaction) => Promise<void>;

/** Builds {@link Republish}. */
export function createRepublish(deps: {
  readonly store: Pick<CollectionStore, 'findByReferences'>;
  readonly events: CollectionEvents;
}): Republish {
  return async (references, transaction) => {
    const collections = await deps.store.findByReferences([...new Set(references)], transaction.session);
    for (const collection of collections)
      for (const event of eventsProvenBy(deps.events, collection)) transaction.emit(event);
  };
}

/**
 * The events of a collection that its record proves, in order: its beginning and its end. They are identical to those
 * published before, because their content follows from the record.
 */
export function eventsProvenBy(events: CollectionEvents, collection: Collection): readonly OutgoingEvent[] {
  const initiated = events.initiated({ ...collection, version: 1n });
  const { causedBy: causationId, timeline, acceptedAtMs } = collection;
  const domainEvent = endOf(collection);
  const ended =
    domainEvent &&
    events.eventOf(domainEvent, collection, { causationId, atMs: timeline.at(-1)?.atMs ?? acceptedAtMs });
  return ended ? [initiated, ended] : [initiated];
}

function endOf({ status, amountReceived, order, fee, railFee, failureReason }: Collection) {
  if (status === 'COMPLETED') {
    return {
      kind: 'completed',
      amountReceived: amountReceived ?? order.amount.minor,
      fee,
      railFee,
    } as const;
  }
  return status === 'FAILED' ? ({ kind: 'failed', reason: failureReason ?? 'FAILED' } as const) : undefined;
}
