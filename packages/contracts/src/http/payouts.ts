import { z } from 'zod';
import { numberText } from '../json.ts';
import { line, optionalLine, reference } from '../text.ts';

/** The channels of a payout (contract 2.2). */
export const channels = ['Bank Transfer', 'Mobile Money'] as const;

/** Every responseCode of the payout API with its HTTP status (contract 7, design 9; after ISO 8583). */
export const payoutCodes = {
  answered: { code: '00', status: 200 },
  accepted: { code: '09', status: 200 },
  notFound: { code: '25', status: 400 },
  malformed: { code: '30', status: 400 },
  invalidAmount: { code: '13', status: 400 },
  unauthenticated: { code: '63', status: 401 },
  notPermitted: { code: '57', status: 403 },
  duplicate: { code: '94', status: 409 },
  insufficientFunds: { code: '51', status: 422 },
  overLimit: { code: '61', status: 422 },
  noRoute: { code: '92', status: 422 },
  tooManyRequests: { code: '65', status: 429 },
  unavailable: { code: '91', status: 503 },
  broken: { code: '96', status: 500 },
} as const;

/** The name of a payout responseCode. */
export type PayoutCode = keyof typeof payoutCodes;

const oneOf = <Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, {
    error: (issue) => (issue.input === undefined ? 'is required' : `must be one of: ${values.join(', ')}`),
  });

/** A single payout as a merchant submits it, and as we submit it upstream (contract 2.2). */
export const singlePayoutRequest = z.object(
  {
    transactionReference: reference,
    country: line(60),
    currency: line(3),
    channel: oneOf(channels),
    transactionType: optionalLine(1),
    beneficiary: z.object(
      {
        accountName: line(140),
        accountNumber: line(40),
        phoneNumber: optionalLine(20),
        accountType: optionalLine(40),
        identificationType: optionalLine(40),
        identificationNumber: optionalLine(40),
        nationalIdNumber: optionalLine(40),
        bankCode: line(20),
        amount: numberText,
        narration: optionalLine(140),
      },
      { error: (issue) => (issue.input === undefined ? 'is required' : 'must be an object') },
    ),
    sender: z.object(
      {
        name: line(140),
        phoneNumber: optionalLine(20),
        email: line(254),
        countryCode: optionalLine(3),
        currencyCode: optionalLine(3),
      },
      { error: (issue) => (issue.input === undefined ? 'is required' : 'must be an object') },
    ),
  },
  { error: 'the body must be an object' },
);

/** A single payout request, read. */
export type SinglePayoutRequest = z.output<typeof singlePayoutRequest>;

/** The envelope of every payout answer (contract 2.1). */
export const payoutEnvelope = z.object({
  isSuccessful: z.boolean(),
  responseCode: z.string().optional(),
  responseMessage: z.string(),
  responseData: z.unknown().optional(),
});

/** The states a merchant sees (contract 3.1, design 4). */
export const payoutStatuses = ['INITIALIZED', 'COMPLETED', 'FAILED', 'REVERSED'] as const;

/** A payout's state as a merchant sees it. */
export type PayoutStatus = (typeof payoutStatuses)[number];

/** A payout as lookups and webhooks show it (contract 2.4). */
export const payoutRecord = z.object({
  transactionStatus: z.enum(payoutStatuses),
  merchantReference: z.string(),
  transactionReference: z.string(),
  amount: numberText,
  feeAmount: numberText,
  valueAmount: numberText.optional(),
  statusReason: z.string().nullish(),
});

/** A payout record, read. */
export type PayoutRecord = z.output<typeof payoutRecord>;

/** The body of a payout webhook (contract 6.1). */
export const payoutWebhook = z.object({ data: payoutRecord });

/** A wallet in a balance answer (contract 2.5). */
export const walletRecord = z.object({
  balance: numberText,
  countryCode: z.string(),
  countryAvatar: z.string(),
  currencyCode: z.string(),
  currencyHtml: z.string(),
});
