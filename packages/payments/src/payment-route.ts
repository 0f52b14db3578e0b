import { type ListedPayment, type PaymentView, paymentOperations } from '@pesewa/contracts';
import { accept, formatAmount, type IdPrefix, refuse } from '@pesewa/kernel';
import { answer, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { unendedStatus } from './payment-list.ts';
import { type Payment, type PaymentStore, paymentId } from './payment-store.ts';

/** How many merchants a reference is looked for at. */
const MERCHANTS_MAX = 1_000;

/** What distinguishes a gateway's payments from those of the other. */
export interface PaymentRouteTerms<One> {
  readonly prefix: keyof typeof unendedStatus;
  /** What operators may see of a payment: nothing that names a person, an account or a number. */
  readonly view: (payment: One) => PaymentView;
  /** The ids of the merchants, at most so many. */
  readonly merchantIds: (most: number) => Promise<readonly string[]>;
}

/**
 * Adds the operator API of a gateway: the record of one payment (ADR 32), found by our reference, which begins with the
 * prefix, or within a merchant by the merchant's or ours; lists of payments; and the merchants' references by ours.
 */
export function addPaymentRoutes<One extends object>(
  operator: Hono,
  store: Pick<PaymentStore<One, never>, 'find' | 'findByReferences' | 'list'>,
  { prefix, view, merchantIds }: PaymentRouteTerms<One>,
): void {
  serveOperations(operator, paymentOperations, {
    show: async ({ query }) => {
      const found = await findNamed(store, prefix, query);
      return found.ok ? answer(200, view(found.value)) : found.refusal;
    },
    list: async ({ query }) => {
      const { merchant: merchantId, merchantReference, rail, open, from, to, after: before, limit } = query;
      const times = { fromMs: instantOf(from), toMs: instantOf(to) };
      const status = open ? unendedStatus[prefix] : query.status;
      let ids: readonly string[] | undefined;
      if (merchantReference !== undefined) {
        const merchants = merchantId === undefined ? await merchantIds(MERCHANTS_MAX + 1) : [merchantId];
        if (merchants.length > MERCHANTS_MAX)
          return refused('too_broad', `merchant is required: there are more than ${MERCHANTS_MAX}`);
        ids = merchants.map((id) => paymentId({ merchantId: id, merchantReference }));
      }
      const which = { merchantId, ids, rail, operatorCode: query.operatorCode, status };
      const found = await store.list({ ...which, ...times, before, limit });
      if (!found) return refused('too_broad', 'too few of too many payments: narrow from and to');
      const items = found.map((payment) => listed(view(payment)));
      const next = items.length < limit ? null : (items.at(-1)?.reference ?? null);
      return answer(200, { items, next });
    },
    references: async ({ query: { references } }) => {
      const found = await store.findByReferences(references.filter((one) => one.startsWith(`${prefix}-`)));
      const items = found
        .map(view)
        .map(({ reference, merchantReference }) => ({ reference, merchantReference }));
      return answer(200, { items, next: null });
    },
  });
}

/**
 * The payment that an operator names, whole; else the refusal to answer.
 *
 * @param prefix how our references of these payments begin: a batch's own reference is stored among the payouts too, but
 *   is no payment
 */
export async function findNamed<One extends object>(
  store: Pick<PaymentStore<One, never>, 'find' | 'findByReferences'>,
  prefix: IdPrefix,
  { reference, merchant }: { readonly reference: string; readonly merchant?: string | undefined },
) {
  let found: One | undefined;
  if (merchant !== undefined) found = await store.find(merchant, reference);
  else if (reference.startsWith(`${prefix}-`)) [found] = await store.findByReferences([reference]);
  if (!found) return refuse(refused('not_found', 'no payment with this reference is known here'));
  return accept(found);
}

const instantOf = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));

function listed(viewed: PaymentView): ListedPayment {
  const { reference, merchantId, merchantReference, rail, currency, amount, fee } = viewed;
  const { status, step, reason, acceptedAt } = viewed;
  const named = { reference, merchantId, merchantReference, rail };
  return { ...named, currency, amount, fee, status, step, reason, acceptedAt };
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
