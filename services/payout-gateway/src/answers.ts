import { jsonNumber, type PayoutCode, payoutCodes } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { formatAmount } from '@pesewa/kernel';
import { answerJson } from '@pesewa/runtime';
import type { Context } from 'hono';
import type { Payout } from './store.ts';

/** The context of every route of the payout API: the merchant whose key was sent. */
export interface AppEnv {
  readonly Variables: { merchant: Merchant };
}

/** Answers in the envelope of contract 2.1, with the status of the code (contract 10.1). */
export function answer(
  context: Pick<Context, 'newResponse'>,
  name: PayoutCode,
  message: string,
  data?: unknown,
): Response {
  const { code, status } = payoutCodes[name];
  return answerJson(context, status, {
    isSuccessful: status === 200,
    responseCode: code,
    responseMessage: message,
    ...(data !== undefined && { responseData: data }),
  });
}

/** A payout as a submission answers it (contract 2.4). */
export function viewSubmitted(payout: Payout) {
  return {
    transactionStatus: payout.status,
    merchantReference: payout.order.merchantReference,
    transactionReference: payout.reference,
    amount: money(payout, payout.order.amount.minor),
    feeAmount: money(payout, payout.fee),
  };
}

/** A payout as a lookup answers it (contract 2.4); `valueAmount` is what it takes from the wallet (contract 10.7). */
export function viewLookedUp(payout: Payout) {
  return {
    ...viewSubmitted(payout),
    valueAmount: money(payout, payout.order.amount.minor + payout.fee),
    statusReason: payout.statusReason ?? '',
  };
}

function money(payout: Payout, minor: bigint): number {
  return jsonNumber(formatAmount(minor, payout.order.amount.currency));
}
