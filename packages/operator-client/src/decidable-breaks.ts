import type { BreakView, PaymentKind } from '@pesewa/contracts';

/** The kinds of breaks about which people can decide, by the kind of payment; the first of them counts. */
const decidable: Readonly<Record<PaymentKind, readonly string[]>> = {
  collection: ['collection.amount_differs'],
  payout: [
    'payout.refused_again',
    'payout.not_found',
    'payment.stuck',
    'payment.end_untaken',
    'payout.amount_differs',
    'payment.contradiction',
  ],
};

/** The break of a payment that people must decide before it can end, if any. */
export function breakToDecide<One extends Pick<BreakView, 'kind' | 'status'>>(
  kind: PaymentKind,
  breaks: readonly One[],
): One | undefined {
  return decidable[kind]
    .map((code) => breaks.find((one) => one.kind === code && one.status !== 'resolved'))
    .find((one) => one !== undefined);
}
