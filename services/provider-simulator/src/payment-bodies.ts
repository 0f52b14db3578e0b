import { jsonNumber } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import type { CallbackStatement } from './domain/payment.ts';
import { reasons } from './domain/rules.ts';
import type { KnownPayment } from './payment-index.ts';

/** A decimal as a JSON number that keeps its own text. */
function money(minor: bigint, currency: string): number {
  return jsonNumber(formatAmount(minor, currency));
}

/** The record in the answer to an accepted payout (contract 2.4, 4.1). */
export function submittedPayout({ terms }: KnownPayment) {
  return {
    transactionStatus: 'INITIALIZED',
    merchantReference: terms.reference,
    transactionReference: terms.ownReference,
    amount: money(terms.amount.minor, terms.amount.currency),
    feeAmount: money(terms.feeMinor, terms.amount.currency),
  };
}

/** The record of a lookup (contract 2.4, 4.3). */
export function lookedUpPayout(payment: KnownPayment) {
  const status = payment.status === 'PENDING' ? 'INITIALIZED' : payment.status;
  return payoutRecord(payment, { status, amountMinor: payment.terms.amount.minor });
}

function payoutRecord(
  payment: KnownPayment,
  shown: { readonly status: CallbackStatement['status'] | 'INITIALIZED'; readonly amountMinor: bigint },
) {
  const { currency } = payment.terms.amount;
  return {
    transactionStatus: shown.status,
    merchantReference: payment.terms.reference,
    transactionReference: payment.terms.ownReference,
    amount: money(shown.amountMinor, currency),
    feeAmount: money(payment.terms.feeMinor, currency),
    valueAmount: money(shown.amountMinor + payment.terms.feeMinor, currency),
    statusReason: payoutReason(payment, shown.status),
  };
}

function payoutReason(payment: KnownPayment, status: CallbackStatement['status'] | 'INITIALIZED'): string {
  if (status === 'INITIALIZED') return 'Pending';
  if (status === 'REVERSED') return 'Reversed by the beneficiary institution';
  if (status === 'COMPLETED') return reasons.successful;
  return payment.status === 'FAILED' ? payment.reason : reasons.declinedPayout;
}

/** The body of a callback for what it claims (contract 6.1, 6.2). */
export function callbackBody(payment: KnownPayment, statement: CallbackStatement): string {
  return JSON.stringify(
    payment.terms.kind === 'payout'
      ? { data: payoutRecord(payment, statement) }
      : collectionRecord(payment, statement),
  );
}

function collectionRecord(payment: KnownPayment, statement: CallbackStatement) {
  const { amount, feeMinor, ownReference, reference } = payment.terms;
  const completed = statement.status === 'COMPLETED';
  const failure = payment.status === 'FAILED' ? payment.reason : reasons.declinedCollection;
  return {
    transaction_reference: ownReference,
    transaction_status: completed ? 'Funds Received' : 'Transaction Failed',
    transaction_fee: money(completed ? feeMinor : 0n, amount.currency),
    amount_received: money(completed ? statement.amountMinor : 0n, amount.currency),
    initiated_date: callbackDate(payment.acceptedAtMs),
    current_status_date: callbackDate(payment.status === 'PENDING' ? payment.startedAtMs : payment.endedAtMs),
    received_from: {},
    merchant_reference: reference,
    status: completed ? 'COMPLETED' : 'FAILED',
    channel: 'MOBILE_MONEY',
    currency_code: amount.currency,
    ...(!completed && { failure_reason: failure }),
  };
}

/** `YYYY-MM-DD HH:MM:SS` in UTC (contract 6.2 and 10.15). */
function callbackDate(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
}
