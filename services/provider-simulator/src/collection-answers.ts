import { type CollectionRefusal, collectionRefusals } from '@pesewa/contracts';
import { answerJson } from '@pesewa/runtime';
import type { Context } from 'hono';
import type { KnownPayment } from './payment-index.ts';

/** The answer to an accepted payin, by the mobile operator's flow (contract 2.9 and 10.11). */
export function pendingAnswer({ terms }: KnownPayment, publicUrl: string) {
  const { flow, ownReference } = terms;
  const answer = answerBody('09', 'PENDING', ownReference);
  if (flow?.kind === 'link') {
    const link = `${publicUrl}/pay/${ownReference}`;
    return { ...answer, paymentCompletionUrl: link, redirectionRequired: true, redirectionUrl: link };
  }
  if (flow?.kind !== 'otp' && flow?.kind !== 'stkThenComplete') return answer;
  return {
    ...answer,
    otpIsRequired: flow.kind === 'otp',
    lengthOfOtp: flow.kind === 'otp' ? flow.otpLength : 0,
    paymentCompletionRequired: true,
    paymentCompletionUrl: '/collection/v1/complete-payin',
  };
}

/** A refusal in the shape of contract 2.9, with the HTTP status of its reason (contract 10.10). */
export function refusal(
  context: Context,
  reason: CollectionRefusal,
  reference: string,
  description?: string,
): Response {
  const body = answerBody('06', 'FAILED', reference);
  const details = { ...body.responseDetails, failedReason: reason };
  return answerJson(context, collectionRefusals[reason].status, {
    ...body,
    responseDetails: description === undefined ? details : { ...details, statusDescription: description },
  });
}

/** The body of every answer of the collection API except a status check's; it asks for nothing else. */
export function answerBody(
  responseCode: '09' | '06',
  responseMessage: 'PENDING' | 'FAILED',
  reference: string,
) {
  return {
    responseDetails: { responseCode, responseMessage },
    transactionReference: reference,
    otpIsRequired: false,
    lengthOfOtp: 0,
    paymentCompletionRequired: false,
    paymentCompletionUrl: '',
    redirectionRequired: false,
    redirectionUrl: '',
  };
}
