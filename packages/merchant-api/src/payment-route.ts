import { type PaymentView, paymentOperations } from '@pesewa/contracts';
import { answer, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';

/** How a gateway's payment is found: by our reference, or within a merchant by the merchant's or ours. */
interface PaymentFinder<Payment> {
  readonly byOurs: (reference: string) => Promise<Payment | undefined>;
  readonly byMerchant: (merchantId: string, reference: string) => Promise<Payment | Archived | undefined>;
}

/** A payment of which the reference alone is left, and how it ended where that is known. */
interface Archived {
  readonly archived: string | null;
}

/**
 * Adds the operator API of a gateway: the record of one payment (ADR 32).
 *
 * @param view what operators may see of it: nothing that names a person, an account or a number
 */
export function addPaymentRoute<Payment extends object>(
  operator: Hono,
  { byOurs, byMerchant }: PaymentFinder<Payment>,
  view: (payment: Payment) => PaymentView,
): void {
  serveOperations(operator, paymentOperations, {
    show: async ({ query: { reference, merchant } }) => {
      const found = await (merchant === undefined ? byOurs(reference) : byMerchant(merchant, reference));
      if (!found) return refused('not_found', 'no payment with this reference is known here');
      if (!('archived' in found)) return answer(200, view(found));
      const end = `this payment has ended as ${found.archived} and is archived`;
      return refused('archived', `${end}: see PAYMENT_KEEP_DAYS`);
    },
  });
}

/**
 * A payment's timeline, as operators read it: times in ISO 8601, and with each step how many steps before it were
 * dropped.
 */
export function viewTimeline(
  timeline: readonly {
    readonly what: string;
    readonly atMs: number;
    readonly attempt?: { readonly number: number; readonly claimedAtMs: number };
    readonly notKept?: number;
  }[],
): PaymentView['steps'] {
  return timeline.map(({ what, atMs, attempt, notKept = 0 }) => ({
    at: new Date(atMs).toISOString(),
    what,
    attempt: attempt?.number ?? null,
    claimedAt: attempt ? new Date(attempt.claimedAtMs).toISOString() : null,
    notKept,
  }));
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
export function withoutNames(
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
