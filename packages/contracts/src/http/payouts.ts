import { z } from 'zod';
import { numberText } from '../json.ts';
import {
  accountNumberLine,
  emailLine,
  line,
  nonEmptyLine,
  optional,
  optionalLine,
  reference,
} from '../text.ts';

/** The channels of a payout (contract 2.2). */
export const channels = ['Bank Transfer', 'Mobile Money'] as const;

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, {
    error: ({ input }) => {
      if (input === undefined) return 'is required';
      return typeof input === 'string' ? `must be one of: ${values.join(', ')}` : 'must be a string';
    },
  });

const objectError = {
  error: (issue: { readonly input?: unknown }) =>
    issue.input === undefined ? 'is required' : 'must be an object',
};

/** The purpose of a payout, relevant for KES and XAF: 1 high risk, 2 low risk, 3 crypto (contract 2.2). */
export const transactionTypes = ['1', '2', '3'] as const;

/** A country or currency in any spelling that names one (contract 10.5). */
const spelling = line(60);

/** The fields of a payout's beneficiary, in a single payout and in an item of a batch. */
const beneficiaryFields = {
  accountName: line(140),
  accountNumber: accountNumberLine,
  phoneNumber: optionalLine(20),
  accountType: optionalLine(40),
  identificationType: optionalLine(40),
  identificationNumber: optionalLine(40),
  nationalIdNumber: optionalLine(40),
  bankCode: line(20),
  amount: numberText,
  narration: optionalLine(140),
};

/** A single payout as a merchant submits it, and as we submit it upstream (contract 2.2); unknown keys are ignored. */
export const singlePayoutRequest = z.object(
  {
    transactionReference: reference,
    country: spelling,
    currency: spelling,
    channel: oneOf(channels),
    transactionType: optional(oneOf(transactionTypes)),
    beneficiary: z.object(beneficiaryFields, objectError),
    sender: z.object(
      {
        name: line(140),
        phoneNumber: optionalLine(20),
        email: emailLine,
        countryCode: optional(spelling),
        currencyCode: optional(spelling),
      },
      objectError,
    ),
  },
  { error: 'the body must be an object' },
);

/** A single payout request, read. */
export type SinglePayoutRequest = z.output<typeof singlePayoutRequest>;

/** The most items of a batch (contract 10.9). */
export const BATCH_ITEMS_MAX = 10_000;

/** An item of a batch: a payout with its own reference; the batch's header has the other fields (contract 2.3). */
export const bulkPayoutItem = z.object(
  {
    ...beneficiaryFields,
    transactionReference: reference,
    saveBeneficiary: optional(z.boolean({ error: 'must be true or false' })),
  },
  objectError,
);

/** An item of a batch, read. */
export type BulkPayoutItem = z.output<typeof bulkPayoutItem>;

/** A batch without its items (contract 2.3). */
export const bulkPayoutHeader = z.object(
  {
    transactionReference: reference,
    country: spelling,
    currency: spelling,
    totalAmount: numberText,
    channel: oneOf(channels),
    transactionType: optional(oneOf(transactionTypes)),
    sender: z.object(
      {
        name: line(140),
        phoneNumber: nonEmptyLine(20),
        email: emailLine,
        countryCode: optional(spelling),
        currencyCode: optional(spelling),
      },
      objectError,
    ),
  },
  { error: 'the body must be an object' },
);

/** The header of a batch, read. */
export type BulkPayoutHeader = z.output<typeof bulkPayoutHeader>;

/** A batch of payouts as a merchant submits it, all or nothing (contract 2.3 and 10.9). */
export const bulkPayoutRequest = bulkPayoutHeader.extend({
  beneficiaries: z
    .array(bulkPayoutItem, {
      error: (issue) => (issue.input === undefined ? 'is required' : 'must be an array'),
    })
    .min(1, { error: 'must have at least one item' })
    .max(BATCH_ITEMS_MAX, { error: `must have at most ${BATCH_ITEMS_MAX} items` }),
});

/** The envelope of every payout answer (contract 2.1). */
export const payoutEnvelope = z.object({
  isSuccessful: z.boolean(),
  responseCode: z.string().optional(),
  responseMessage: z.string(),
  responseData: z.unknown().optional(),
});

/** The states a merchant sees (contract 3.1 and 10.6). */
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
