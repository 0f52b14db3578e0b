import { jsonNumber, type PayoutCode, payoutCodes } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { answerJson } from '@pesewa/runtime';
import type { Context } from 'hono';
import type { Payout } from './store.ts';
import type { WhyWaiting } from './waiting.ts';

/** The part of a request's context that answers need. */
export type AnswerContext = Pick<Context, 'newResponse'>;

/** The name of a responseCode that refuses. */
export type RefusalCode = Exclude<PayoutCode, 'answered' | 'accepted'>;

/** Refuses in the envelope of contract 2.1, with the status of the code (contract 10.1). */
export function answerRefused(context: AnswerContext, name: RefusalCode, message: string): Response {
  const { code, status } = payoutCodes[name];
  return answerJson(context, status, { isSuccessful: false, responseCode: code, responseMessage: message });
}

/** Refuses a request that exceeds a rate, and says when to retry (contract 10.17). */
export function answerTooMany(
  context: Pick<Context, 'newResponse' | 'header'>,
  message: string,
  waitSeconds: number,
): Response {
  context.header('retry-after', String(waitSeconds));
  return answerRefused(context, 'tooManyRequests', `${message}: try again after ${waitSeconds} s`);
}

/** A payout as its acceptance is answered (contract 2.4). */
export function viewAccepted(payout: Payout) {
  return {
    transactionStatus: payout.status,
    merchantReference: payout.order.merchantReference,
    transactionReference: payout.reference,
    amount: money(payout, payout.order.amount.minor),
    feeAmount: money(payout, payout.fee),
  };
}

/**
 * A payout as a lookup answers it (contract 2.4); `valueAmount` is what it takes from the wallet (contract 10.7), and before
 * its end the reason is why it waits (contract 10.6).
 */
export function viewLookedUp(payout: Payout, whyWaiting: WhyWaiting) {
  return {
    ...viewAccepted(payout),
    valueAmount: money(payout, payout.order.amount.minor + payout.fee),
    statusReason: payout.statusReason ?? whyWaiting(payout) ?? '',
  };
}

function money(payout: Payout, minor: bigint): number {
  return jsonNumber(formatAmount(minor, payout.order.amount.currency));
}
