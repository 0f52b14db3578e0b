import { reference } from '@pesewa/contracts';
import { answerJson, refuseOperator } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { z } from 'zod';

const MERCHANT_LENGTH_MAX = 64;

const query = z.object({
  reference,
  merchant: z.string().min(1).max(MERCHANT_LENGTH_MAX).optional(),
});

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
 * Adds `GET /payments?reference=&merchant=` to a gateway's operator API: the record of one payment (ADR 32).
 *
 * @param view what operators may see of it: nothing that names a person, an account or a number
 */
export function addPaymentRoute<Payment extends object>(
  operator: Hono,
  { byOurs, byMerchant }: PaymentFinder<Payment>,
  view: (payment: Payment) => object,
): void {
  operator.get('/payments', async (context) => {
    const asked = query.safeParse(context.req.query());
    if (!asked.success) {
      const message = 'ask by our reference, or by the merchant and its reference';
      return refuseOperator(context, 400, 'invalid', message);
    }
    const { reference: wanted, merchant } = asked.data;
    const found = await (merchant === undefined ? byOurs(wanted) : byMerchant(merchant, wanted));
    if (!found)
      return refuseOperator(context, 404, 'not_found', 'no payment with this reference is known here');
    if ('archived' in found) {
      const message = `this payment has ended as ${found.archived} and is archived: see PAYMENT_KEEP_DAYS`;
      return refuseOperator(context, 410, 'archived', message);
    }
    return answerJson(context, 200, view(found));
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
) {
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
