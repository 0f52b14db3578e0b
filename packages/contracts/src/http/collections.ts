import { z } from 'zod';
import { collectionCountries } from '../countries.ts';
import { numberText, wholeNumber } from '../json.ts';
import { line, optional, optionalLine, reference } from '../text.ts';

const requestHeader = z.object(
  { clientId: optionalLine(100), requestType: line(40) },
  { error: (issue) => (issue.input === undefined ? 'is required' : 'must be an object') },
);

/** A mobile number with its country's dialling code; without separators, so that it has one spelling in `X-module`. */
const customerNumber = z
  .string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be a string') })
  .regex(/^\+?\d{6,15}$/, { error: 'must have 6 to 15 digits, after at most one plus sign' });

const country = z
  .string()
  .regex(/^[A-Za-z]{2}$/, { error: `must be one of ${collectionCountries.join(', ')}` });

/** The address where the customer continues. A browser is sent there, so it must be that of a web page. */
const pageAddress = optional(
  line(2048).refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), {
    error: 'must be an http or https address',
  }),
);

/** A collection as a merchant submits it, and as we submit it upstream (contract 2.8). */
export const payinRequest = z.object(
  {
    requestHeader,
    customerName: optionalLine(140),
    customerEmail: optionalLine(254),
    customerNumber,
    transactionReference: reference,
    transactionDescription: optionalLine(140),
    transactionAmount: numberText,
    transactionCurrency: line(3),
    transactionCountry: country,
    transactionType: optionalLine(1),
    successUrl: pageAddress,
    errorUrl: pageAddress,
    cancelUrl: pageAddress,
    operatorCode: line(10),
    webhookUrl: optionalLine(2048),
  },
  { error: 'the body must be an object' },
);

/** A payin request, read. */
export type PayinRequest = z.output<typeof payinRequest>;

/** The completion of a collection: the payin's body, with the customer's OTP where the flow asks for it (contract 4.8). */
export const completePayinRequest = payinRequest.extend({
  otpCode: z.preprocess(
    (value) => (value === null || value === '' ? undefined : value),
    z
      .string({ error: 'must be a string' })
      .regex(/^\d{4,6}$/, { error: 'must have 4 to 6 digits' })
      .optional(),
  ),
});

/** A complete-payin request, read. */
export type CompletePayinRequest = z.output<typeof completePayinRequest>;

/** The status check of a collection (contract 2.10). */
export const checkStatusRequest = z.object({
  requestHeader,
  transactionReference: reference,
  transactionCountry: country,
});

/** The answer of payin and complete-payin (contract 2.9). */
export const payinResponse = z.object({
  responseDetails: z.object({
    responseCode: z.enum(['09', '06']),
    responseMessage: z.enum(['PENDING', 'FAILED']),
    statusDescription: z.string().optional(),
    failedReason: z.string().optional(),
  }),
  transactionReference: z.string(),
  otpIsRequired: z.boolean(),
  lengthOfOtp: wholeNumber,
  paymentCompletionRequired: z.boolean(),
  paymentCompletionUrl: z.string(),
  redirectionRequired: z.boolean(),
  redirectionUrl: z.string(),
});

/** What check-status answers for each state (contract 10.14). */
export const checkStatusCodes = {
  pending: { responseCode: '09', responseMessage: 'PENDING' },
  completed: { responseCode: '00', responseMessage: 'COMPLETED' },
  failed: { responseCode: '06', responseMessage: 'FAILED' },
  notFound: { responseCode: '25', responseMessage: 'NOT FOUND' },
} as const;

const checkStatusDetails = Object.values(checkStatusCodes);

/** The answer of check-status (contract 2.10). */
export const checkStatusResponse = z.strictObject({
  serverResponse: z.strictObject({
    responseDetails: z.strictObject({
      responseCode: z.enum(checkStatusDetails.map(({ responseCode }) => responseCode)),
      responseMessage: z.enum(checkStatusDetails.map(({ responseMessage }) => responseMessage)),
    }),
  }),
});

/** The four-field body of a refused status check (contract 4.9). */
export const checkStatusError = z.strictObject({
  timestamp: z.iso.datetime(),
  status: numberText,
  error: z.string(),
  path: z.string(),
});

/** The body of a collection webhook (contract 6.2). */
export const collectionWebhook = z.object({
  transaction_reference: z.string(),
  transaction_status: z.enum(['Funds Received', 'Transaction Failed']),
  transaction_fee: numberText,
  amount_received: numberText,
  initiated_date: z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
  current_status_date: z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
  received_from: z.looseObject({}),
  merchant_reference: z.string(),
  status: z.enum(['COMPLETED', 'FAILED']),
  channel: z.literal('MOBILE_MONEY'),
  currency_code: z.string(),
  failure_reason: z.string().optional(),
});
