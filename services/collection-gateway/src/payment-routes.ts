import type { CollectionView } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { addPaymentRoute, viewTimeline, withoutNames } from '@pesewa/merchant-api';
import type { Hono } from 'hono';
import type { Collection, CollectionStore } from './store.ts';

/** Adds the operator's view of one collection. */
export function addPaymentRoutes(
  operator: Hono,
  store: Pick<CollectionStore, 'find' | 'findByReferences'>,
): void {
  const byOurs = async (reference: string) => (await store.findByReferences([reference]))[0];
  addPaymentRoute(operator, { byOurs, byMerchant: store.find }, view);
}

/** A collection's state and timeline, without names or numbers of people, and without OTPs. */
function view(collection: Collection): CollectionView {
  const { order, dueAtMs, amountReceived } = collection;
  const { amount, flow } = order;
  const text = (minor: bigint) => formatAmount(minor, amount.currency);
  const names = [order.customerName, order.customerNumber, order.customerEmail];
  return {
    kind: 'collection',
    reference: collection.reference,
    merchantId: collection.merchantId,
    merchantReference: order.merchantReference,
    rail: collection.rail,
    operatorCode: order.operatorCode,
    flow: flow.kind,
    currency: amount.currency,
    amount: text(amount.minor),
    fee: text(collection.fee),
    railFee: text(collection.railFee),
    amountReceived: amountReceived === null ? null : text(amountReceived),
    status: collection.status,
    step: collection.step,
    version: Number(collection.version),
    reason: withoutNames(collection.failureReason, names),
    acceptedAt: time(collection.acceptedAtMs),
    attempts: collection.attempts,
    attemptedAt: time(collection.attemptedAtMs),
    earlierUnclear: collection.earlierUnclear,
    dueAt: dueAtMs === null ? null : time(dueAtMs),
    completions: collection.completionAttempts,
    completionClosed: collection.completionClosed,
    steps: viewTimeline(collection.timeline),
  };
}

function time(atMs: number): string {
  return new Date(atMs).toISOString();
}
