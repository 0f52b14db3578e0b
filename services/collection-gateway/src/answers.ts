import { type CollectionRefusal, checkStatusCodes, collectionRefusals } from '@pesewa/contracts';
import { unreachable } from '@pesewa/kernel';
import { answerJson } from '@pesewa/runtime';
import type { Context } from 'hono';
import type { Collection } from './store.ts';

/** Where a merchant completes a collection (contract 2.9). */
const COMPLETION_PATH = '/collection/v1/complete-payin';

const nothingFurther = {
  otpIsRequired: false,
  lengthOfOtp: 0,
  paymentCompletionRequired: false,
  paymentCompletionUrl: '',
  redirectionRequired: false,
  redirectionUrl: '',
};

/** Answers an accepted payin: what is to be done next by the operator's flow (contract 2.9, design 9). */
export function answerInitiated(context: Context, collection: Collection, redirectionUrl: string): Response {
  return answerJson(context, 200, {
    responseDetails: { responseCode: '09', responseMessage: 'PENDING' },
    transactionReference: collection.reference,
    ...nextStep(collection, redirectionUrl),
  });
}

function nextStep({ order: { flow } }: Collection, redirectionUrl: string) {
  const completion = { paymentCompletionRequired: true, paymentCompletionUrl: COMPLETION_PATH };
  switch (flow.kind) {
    case 'otp':
      return { ...nothingFurther, ...completion, otpIsRequired: true, lengthOfOtp: flow.otpLength };
    case 'stkThenComplete':
      return { ...nothingFurther, ...completion };
    case 'link':
      return {
        ...nothingFurther,
        paymentCompletionUrl: redirectionUrl,
        redirectionRequired: true,
        redirectionUrl,
      };
    case 'stk':
      return nothingFurther;
    default:
      return unreachable(flow);
  }
}

/** Answers a completion that goes on: nothing further is asked of the merchant (design 9). */
export function answerCompleting(context: Context, reference: string): Response {
  return answerJson(context, 200, {
    responseDetails: { responseCode: '09', responseMessage: 'PENDING' },
    transactionReference: reference,
    ...nothingFurther,
  });
}

/** Answers a refusal in the shape of contract 2.9; a rail's own reason goes with HTTP 200 (design 9). */
export function answerRefused(
  context: Context,
  reason: string,
  details: { readonly reference?: string; readonly description?: string } = {},
): Response {
  return answerJson(context, isOurs(reason) ? collectionRefusals[reason] : 200, {
    responseDetails: {
      responseCode: '06',
      responseMessage: 'FAILED',
      ...(details.description !== undefined && { statusDescription: details.description }),
      failedReason: reason,
    },
    transactionReference: details.reference ?? '',
    ...nothingFurther,
  });
}

function isOurs(reason: string): reason is CollectionRefusal {
  return Object.hasOwn(collectionRefusals, reason);
}

/** Answers a status check (contract 2.10). */
export function answerStatus(context: Context, collection: Collection | undefined): Response {
  return answerJson(context, 200, {
    serverResponse: { responseDetails: checkStatusCodes[stateOf(collection)] },
  });
}

function stateOf(collection: Collection | undefined): keyof typeof checkStatusCodes {
  if (!collection) return 'notFound';
  switch (collection.status) {
    case 'PENDING':
      return 'pending';
    case 'COMPLETED':
      return 'completed';
    case 'FAILED':
      return 'failed';
    default:
      return unreachable(collection.status);
  }
}

const errors = { 400: 'Bad Request', 404: 'Not Found', 500: 'Internal Server Error' } as const;

/** Answers the four-field body of a rejected request (contract 4.9). */
export function answerRejected(context: Context, status: keyof typeof errors, nowMs: number): Response {
  return answerJson(context, status, {
    timestamp: new Date(nowMs).toISOString(),
    status,
    error: errors[status],
    path: context.req.path,
  });
}
