import type { OutgoingEvent, Transaction } from '@pesewa/messaging';
import { eventOf, initiatedEvent } from './events.ts';
import type { Collection, CollectionStore } from './store.ts';

/** Publishes again what the records of collections prove, within the transaction; the records don't change. */
export async function republish(
  store: Pick<CollectionStore, 'findByReferences'>,
  references: readonly string[],
  transaction: Transaction,
): Promise<void> {
  const collections = await store.findByReferences([...new Set(references)], transaction.session);
  for (const event of collections.flatMap(eventsProvenBy)) transaction.emit(event);
}

/**
 * The events of a collection that its record proves, in order: its beginning and its end. They are identical to those
 * published before, because their content follows from the record.
 */
export function eventsProvenBy(collection: Collection): OutgoingEvent[] {
  const initiated = initiatedEvent({ ...collection, version: 1n });
  const { causedBy: causationId, timeline, acceptedAtMs } = collection;
  const domainEvent = endOf(collection);
  const atMs = timeline.at(-1)?.atMs ?? acceptedAtMs;
  const ended = domainEvent && eventOf(domainEvent, collection, { causationId, atMs });
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
