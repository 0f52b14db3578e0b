import { type PayoutCode, payoutCodes } from '@pesewa/contracts';
import { answerJson } from '@pesewa/runtime';
import type { Context } from 'hono';

/** An answered question (contract 2.1). */
export function success(context: Context, message: string, data: object): Response {
  return envelope(context, 'answered', true, message, data);
}

/** An accepted submission; that of a batch has no data (contract 4.1, 4.2). */
export function submitted(context: Context, message: string, data?: object): Response {
  return envelope(context, 'accepted', true, message, data);
}

/** A refusal, by the name of its code. */
export function refusal(context: Context, code: PayoutCode, message: string): Response {
  return envelope(context, code, false, message);
}

/** Every answer of the payout API (contract 2.1 and 10.1). */
function envelope(context: Context, name: PayoutCode, isSuccessful: boolean, message: string, data?: object) {
  const { code, status } = payoutCodes[name];
  return answerJson(context, status, {
    isSuccessful,
    responseCode: code,
    responseMessage: message,
    ...(data && { responseData: data }),
  });
}
