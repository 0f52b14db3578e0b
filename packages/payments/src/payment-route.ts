import { type PaymentView, paymentOperations } from '@pesewa/contracts';
import { formatAmount, type IdPrefix } from '@pesewa/kernel';
import { answer, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { isArchived } from './archive.ts';
import type { Payment, PaymentStore } from './payment-store.ts';

/**
 * Adds the operator API of a gateway: the record of one payment (ADR 32), found by our reference, which begins with the
 * prefix, or within a merchant by the merchant's or ours.
 *
 * @param view what operators may see of it: nothing that names a person, an account or a number
 */
export function addPaymentRoute<One extends object>(
  operator: Hono,
  store: Pick<PaymentStore<One, never>, 'find' | 'findByReferences'>,
  prefix: IdPrefix,
  view: (payment: One) => PaymentView,
): void {
  // A batch's own reference is stored among the payouts too, but is no payment.
  const byOurs = async (reference: string) =>
    reference.startsWith(`${prefix}-`) ? (await store.findByReferences([reference]))[0] : undefined;
  serveOperations(operator, paymentOperations, {
    show: async ({ query: { reference, merchant } }) => {
      const found = await (merchant === undefined ? byOurs(reference) : store.find(merchant, reference));
      if (!found) return refused('not_found', 'no payment with this reference is known here');
      if (!isArchived(found)) return answer(200, view(found));
      const end = `this payment has ended as ${found.archived} and is archived`;
      return refused('archived', `${end}: see PAYMENT_KEEP_DAYS`);
    },
  });
}

/** What operators see of every payment; its reason is shown without numbers and without these names. */
export function viewPayment(
  payment: Payment,
  reason: string | null,
  names: readonly (string | null | undefined)[],
) {
  const { order, attemptedAtMs, dueAtMs } = payment;
  const { merchantReference, amount } = order;
  const text = (minor: bigint) => formatAmount(minor, amount.currency);
  return {
    reference: payment.reference,
    merchantId: payment.merchantId,
    merchantReference,
    rail: payment.rail,
    currency: amount.currency,
    amount: text(amount.minor),
    fee: text(payment.fee),
    railFee: text(payment.railFee),
    status: payment.status,
    step: payment.step,
    version: Number(payment.version),
    reason: maskNames(reason, names),
    acceptedAt: time(payment.acceptedAtMs),
    attempts: payment.attempts,
    attemptedAt: attemptedAtMs === null ? null : time(attemptedAtMs),
    earlierUnclear: payment.earlierUnclear,
    dueAt: dueAtMs === null ? null : time(dueAtMs),
    steps: payment.timeline.map(({ what, atMs, attempt, notKept = 0 }) => ({
      at: time(atMs),
      what,
      attempt: attempt?.number ?? null,
      claimedAt: attempt ? time(attempt.claimedAtMs) : null,
      // How many steps before it were dropped.
      notKept,
    })),
  };
}

function time(atMs: number): string {
  return new Date(atMs).toISOString();
}

const MASK = '***';
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** A number as any rail may write it: six digits or more, with separators between them. */
const NUMBER = /\+?\p{Nd}(?:[\s().\-/]*\p{Nd}){5,}/gu;
const WORD_LENGTH_MIN = 2;

/**
 * A rail's reason without long numbers and without the words of these names, because the reason may name the
 * customer.
 */
export function maskNames(
  reason: string | null,
  names: readonly (string | null | undefined)[],
): string | null {
  const words = (text: string) => text.normalize('NFKC').toLowerCase().match(WORD) ?? [];
  const hidden = new Set(
    names.flatMap((name) => words(name ?? '')).filter((word) => word.length >= WORD_LENGTH_MIN),
  );
  return reason === null
    ? null
    : reason
        .normalize('NFKC')
        .replaceAll(NUMBER, MASK)
        .replaceAll(WORD, (word) => (hidden.has(word.toLowerCase()) ? MASK : word));
}
