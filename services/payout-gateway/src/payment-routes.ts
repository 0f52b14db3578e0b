import type { PayoutView } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { addPaymentRoute, viewTimeline, withoutNames } from '@pesewa/merchant-api';
import type { Hono } from 'hono';
import type { Payout, PayoutStore } from './store.ts';

/** Adds the operator's view of one payout. */
export function addPaymentRoutes(
  operator: Hono,
  store: Pick<PayoutStore, 'find' | 'findByReferences'>,
): void {
  // A batch's own reference is stored among the payouts too, but is no payment.
  const byOurs = async (reference: string) =>
    reference.startsWith('po-') ? (await store.findByReferences([reference]))[0] : undefined;
  addPaymentRoute(operator, { byOurs, byMerchant: store.find }, view);
}

/** A payout's state and timeline, without names, accounts or numbers of people. */
function view(payout: Payout): PayoutView {
  const { order, attemptedAtMs, dueAtMs } = payout;
  const { amount } = order;
  const text = (minor: bigint) => formatAmount(minor, amount.currency);
  return {
    kind: 'payout',
    reference: payout.reference,
    merchantId: payout.merchantId,
    merchantReference: order.merchantReference,
    batchReference: payout.batchReference,
    rail: payout.rail,
    currency: amount.currency,
    amount: text(amount.minor),
    fee: text(payout.fee),
    railFee: text(payout.railFee),
    amountReceived: null,
    status: payout.status,
    step: payout.step,
    version: Number(payout.version),
    reason: withoutNames(payout.statusReason, namesIn(order)),
    acceptedAt: time(payout.acceptedAtMs),
    attempts: payout.attempts,
    attemptedAt: attemptedAtMs === null ? null : time(attemptedAtMs),
    earlierUnclear: payout.earlierUnclear,
    dueAt: dueAtMs === null ? null : time(dueAtMs),
    steps: viewTimeline(payout.timeline),
  };
}

/** The names that must not be shown; an order that was rebuilt from events has none. */
function namesIn({ beneficiary, sender }: Payout['order']) {
  if (sender === null) return [];
  const { accountName, accountNumber, phoneNumber, identificationNumber, nationalIdNumber } = beneficiary;
  const numbers = [accountNumber, phoneNumber, identificationNumber, nationalIdNumber, sender.phoneNumber];
  return [accountName, sender.name, sender.email, beneficiary.narration, ...numbers];
}

function time(atMs: number): string {
  return new Date(atMs).toISOString();
}
