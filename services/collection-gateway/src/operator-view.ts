import type { CollectionView } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { viewPayment } from '@pesewa/payments';
import type { Collection } from './store.ts';

/** A collection's state and timeline, without names or numbers of people, and without OTPs. */
export function viewCollection(collection: Collection): CollectionView {
  const { order, amountReceived, failureReason } = collection;
  const names = [order.customerName, order.customerNumber, order.customerEmail];
  return {
    kind: 'collection',
    ...viewPayment(collection, failureReason, names),
    operatorCode: order.operatorCode,
    flow: order.flow.kind,
    amountReceived: amountReceived === null ? null : formatAmount(amountReceived, order.amount.currency),
    completions: collection.completionAttempts,
    completionClosed: collection.completionClosed,
  };
}
