import { numberText } from '@pesewa/contracts';
import { z } from 'zod';

// The shapes follow the contract and are strict: an additional field fails as a missing one does.

const text = z.string().min(1);

const pending = z.strictObject({
  responseDetails: z.strictObject({
    responseCode: z.literal('09'),
    responseMessage: z.literal('PENDING'),
    statusDescription: z.string().optional(),
  }),
  transactionReference: text,
  otpIsRequired: z.boolean(),
  lengthOfOtp: numberText.pipe(z.enum(['0', '4', '6'])),
  paymentCompletionRequired: z.boolean(),
  paymentCompletionUrl: z.string(),
  redirectionRequired: z.boolean(),
  redirectionUrl: z.string(),
});

/** A refusal asks for no further step. */
const failed = z.strictObject({
  responseDetails: z.strictObject({
    responseCode: z.literal('06'),
    responseMessage: z.literal('FAILED'),
    statusDescription: text.optional(),
    failedReason: z.string().regex(/^[A-Z][A-Z ]+$/),
  }),
  transactionReference: z.string(),
  otpIsRequired: z.literal(false),
  lengthOfOtp: numberText.pipe(z.literal('0')),
  paymentCompletionRequired: z.literal(false),
  paymentCompletionUrl: z.literal(''),
  redirectionRequired: z.literal(false),
  redirectionUrl: z.literal(''),
});

/** The answer of payin and complete-payin (contract 2.9). */
export const payinAnswer = z.union([pending, failed]);

/** The answer of check-status (contract 2.10), with the pairs of contract 10.14. */
export const statusAnswer = z.strictObject({
  serverResponse: z.strictObject({
    responseDetails: z.union([
      z.strictObject({ responseCode: z.literal('09'), responseMessage: z.literal('PENDING') }),
      z.strictObject({ responseCode: z.literal('00'), responseMessage: z.literal('COMPLETED') }),
      z.strictObject({ responseCode: z.literal('06'), responseMessage: z.literal('FAILED') }),
      z.strictObject({ responseCode: z.literal('25'), responseMessage: z.literal('NOT FOUND') }),
    ]),
  }),
});

/** The four-field body of a refused status check (contract 4.9). */
export const rejectedAnswer = z.strictObject({
  timestamp: z.iso.datetime(),
  status: numberText.pipe(z.string().regex(/^[45]\d\d$/)),
  error: text,
  path: text,
});

const dateTime = z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);

const common = {
  transaction_reference: text,
  transaction_fee: numberText,
  amount_received: numberText,
  initiated_date: dateTime,
  current_status_date: dateTime,
  received_from: z.strictObject({}),
  merchant_reference: text,
  channel: z.literal('MOBILE_MONEY'),
  currency_code: z.string().regex(/^[A-Z]{3}$/),
};

/** The body of a collection webhook (contract 6.2). */
export const webhookBody = z.union([
  z.strictObject({
    ...common,
    transaction_status: z.literal('Funds Received'),
    status: z.literal('COMPLETED'),
  }),
  z.strictObject({
    ...common,
    transaction_status: z.literal('Transaction Failed'),
    status: z.literal('FAILED'),
    failure_reason: text,
  }),
]);
