import {
  type CompletionFlow,
  checkStatusCodes,
  type checkStatusError,
  type checkStatusResponse,
  findCollectionRefusal,
  type JsonOf,
  numberText,
  payinResponse,
} from '@pesewa/contracts';
import { unreachable } from '@pesewa/kernel';
import { answerJson } from '@pesewa/runtime';
import type { Context } from 'hono';
import { z } from 'zod';
import type { Collection } from './store.ts';

/** Where a merchant completes a collection (contract 2.9). */
export const COMPLETION_PATH = '/collection/v1/complete-payin';

/** Closed schemas, with the number as it is sent. */
const closed = { lengthOfOtp: numberText } as const;

/** The answer of a payin or completion that goes on (contract 2.9). */
export const pendingAnswer = payinResponse
  .extend({
    ...closed,
    responseDetails: z.strictObject({
      responseCode: z.literal('09'),
      responseMessage: z.literal('PENDING'),
      statusDescription: z.string().optional(),
    }),
  })
  .strict();

/** The answer of a refusal with one of the reasons (contract 2.9). */
export function refusedAnswer<Reason extends z.ZodType<string>>(failedReason: Reason) {
  return payinResponse
    .extend({
      ...closed,
      responseDetails: z.strictObject({
        responseCode: z.literal('06'),
        responseMessage: z.literal('FAILED'),
        statusDescription: z.string().optional(),
        failedReason,
      }),
    })
    .strict();
}

const nothingFurther = {
  otpIsRequired: false,
  lengthOfOtp: 0,
  paymentCompletionRequired: false,
  paymentCompletionUrl: '',
  redirectionRequired: false,
  redirectionUrl: '',
};

type Pending = JsonOf<typeof pendingAnswer>;
type Refused = JsonOf<ReturnType<typeof refusedAnswer<z.ZodString>>>;

/** A collection that goes on, with the next step of the mobile operator's flow (contract 2.9 and 10.11). */
export function viewInitiated(reference: string, flow: CompletionFlow, redirectionUrl: string): Pending {
  return {
    responseDetails: { responseCode: '09', responseMessage: 'PENDING' },
    transactionReference: reference,
    ...nextStep(flow, redirectionUrl),
  };
}

/** Answers an accepted payin. */
export function answerInitiated(
  context: Context,
  { reference, order }: Collection,
  redirectionUrl: string,
): Response {
  return answerJson(context, 200, viewInitiated(reference, order.flow, redirectionUrl));
}

/** What a flow asks of the merchant next (contract 10.11). */
export function nextStep(flow: CompletionFlow, redirectionUrl: string) {
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

/** A completion that goes on; the merchant need not do anything else (contract 10.12). */
export function viewCompleting(reference: string): Pending {
  return {
    responseDetails: { responseCode: '09', responseMessage: 'PENDING' },
    transactionReference: reference,
    ...nothingFurther,
  };
}

/** Answers a completion that goes on. */
export function answerCompleting(context: Context, reference: string): Response {
  return answerJson(context, 200, viewCompleting(reference));
}

/** The fields of a refusal in addition to its reason. */
interface RefusalDetails {
  /** Our reference of the collection that the refusal is about. */
  readonly reference?: string;
  /** What is wrong, or what to do. */
  readonly description?: string;
  /** Whole seconds after which to retry, as `Retry-After`. */
  readonly retryAfterSeconds?: number;
}

/** A refusal in the shape of contract 2.9, which asks for nothing else; without a description of its own it says what its reason means. */
export function viewRefused(reason: string, details: RefusalDetails = {}): Refused {
  const description = details.description ?? findCollectionRefusal(reason)?.meaning;
  return {
    responseDetails: {
      responseCode: '06',
      responseMessage: 'FAILED',
      ...(description !== undefined && { statusDescription: description }),
      failedReason: reason,
    },
    transactionReference: details.reference ?? '',
    ...nothingFurther,
  };
}

/** Answers a refusal in the shape of contract 2.9; a rail's own reason has HTTP status 200 (contract 10.10). */
export function answerRefused(context: Context, reason: string, details: RefusalDetails = {}): Response {
  if (details.retryAfterSeconds !== undefined)
    context.header('retry-after', String(details.retryAfterSeconds));
  return answerJson(context, findCollectionRefusal(reason)?.status ?? 200, viewRefused(reason, details));
}

/** A state in the answer of a status check (contract 2.10). */
export function viewStatus(state: keyof typeof checkStatusCodes): JsonOf<typeof checkStatusResponse> {
  return { serverResponse: { responseDetails: checkStatusCodes[state] } };
}

/** Answers a status check. */
export function answerStatus(context: Context, collection: Collection | undefined): Response {
  return answerJson(context, 200, viewStatus(stateOf(collection)));
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

const errors = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

/** The statuses of requests that are rejected with a four-field body. */
export type RejectedStatus = keyof typeof errors;

/** The four-field body of a rejected request (contract 4.9). */
export function viewRejected(
  status: RejectedStatus,
  path: string,
  nowMs: number,
  why?: string,
): JsonOf<typeof checkStatusError> {
  const error = why === undefined ? errors[status] : `${errors[status]}: ${why}`;
  return { timestamp: new Date(nowMs).toISOString(), status, error, path };
}

/** Answers the four-field body of a rejected request (contract 4.9). */
export function answerRejected(
  context: Context,
  status: RejectedStatus,
  nowMs: number,
  why?: string,
): Response {
  return answerJson(context, status, viewRejected(status, escapePath(context.req.path), nowMs, why));
}

const PATH_LENGTH_MAX = 200;

/** A path that is safe to show: the router has decoded it, and a client may display the answer as HTML. */
function escapePath(path: string): string {
  return path
    .slice(0, PATH_LENGTH_MAX)
    .replace(/[^A-Za-z0-9/._~:-]/gu, (character) =>
      [...Buffer.from(character, 'utf8')]
        .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
        .join(''),
    );
}
