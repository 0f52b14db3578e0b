import { z } from 'zod';
import { reference, referencePattern } from '../text.ts';
import { instant, onlyIfTrue, pageLimit, pageOf, textUpTo } from './lists.ts';
import { declareOperations, strictFields } from './operation.ts';

const MERCHANT_LENGTH_MAX = 64;
const RAIL_LENGTH_MAX = 40;

/** The statuses of payouts and of collections. */
export const paymentStatuses = ['INITIALIZED', 'PENDING', 'COMPLETED', 'FAILED', 'REVERSED'] as const;

const timelineStep = z.object({
  at: z.string(),
  what: z.string(),
  /** The attempt at the rail that it belongs to, and when that was committed. */
  attempt: z.number().nullable(),
  claimedAt: z.string().nullable(),
  /** How many steps between the one before and this one were dropped. */
  notKept: z.number(),
});

const common = z.object({
  reference: z.string(),
  merchantId: z.string(),
  merchantReference: z.string(),
  rail: z.string(),
  currency: z.string(),
  amount: z.string(),
  fee: z.string(),
  railFee: z.string(),
  amountReceived: z.string().nullable(),
  status: z.string(),
  step: z.string(),
  version: z.number(),
  /** Why it ended, or why a payout that was not sent yet waits. */
  reason: z.string().nullable(),
  acceptedAt: z.string(),
  attempts: z.number(),
  attemptedAt: z.string().nullable(),
  earlierUnclear: z.boolean(),
  dueAt: z.string().nullable(),
  steps: z.array(timelineStep),
});

const payoutView = common.extend({
  kind: z.literal('payout'),
  /** Our reference of its batch. */
  batchReference: z.string().nullable(),
});

const collectionView = common.extend({
  kind: z.literal('collection'),
  operatorCode: z.string().nullable(),
  flow: z.string(),
  /** How many codes were passed on, and whether no more are. */
  completions: z.number(),
  completionClosed: z.boolean(),
});

const paymentView = z.discriminatedUnion('kind', [payoutView, collectionView]);

/** A payout as its gateway has it. */
export type PayoutView = z.output<typeof payoutView>;

/** A collection as its gateway has it. */
export type CollectionView = z.output<typeof collectionView>;

/** A gateway's record of a payment, without anything that names a person, an account or a number; times in UTC. */
export type PaymentView = z.output<typeof paymentView>;

const listedPayment = common
  .pick({
    reference: true,
    merchantId: true,
    merchantReference: true,
    rail: true,
    currency: true,
    amount: true,
    fee: true,
    status: true,
    step: true,
    reason: true,
    acceptedAt: true,
  })
  .meta({ id: 'ListedPayment' });

/** A payment in a list: where it stands, without its steps. */
export type ListedPayment = z.output<typeof listedPayment>;

/** How a payment is named: by our reference, or by its merchant and either reference. */
const named = {
  /** Ours, or with `merchant` the merchant's. */
  reference,
  merchant: textUpTo(MERCHANT_LENGTH_MAX).min(1, { error: 'must not be empty' }).optional(),
};

/** How many references one request may name. */
export const REFERENCES_MAX = 100;

const references = z
  .string({ error: 'is required' })
  .refine(
    (text) => {
      const all = text.split(',');
      return all.length <= REFERENCES_MAX && all.every((one) => referencePattern.test(one));
    },
    { error: `must be 1 to ${REFERENCES_MAX} references, separated by commas` },
  )
  .transform((text) => text.split(','));

/** The payments of a gateway (ADR 32). */
export const paymentOperations = declareOperations({
  show: {
    method: 'get',
    path: '/payments',
    summary: 'Shows a payment by our reference, or by a merchant and either reference',
    query: z.object(named),
    answers: { 200: paymentView },
    refusals: { not_found: 404 },
  },
  list: {
    method: 'get',
    path: '/payments/list',
    summary: 'Lists payments by acceptance, newest first',
    query: z
      .object({
        merchant: textUpTo(MERCHANT_LENGTH_MAX)
          .min(1, { error: 'must not be empty' })
          .optional()
          .describe('only those of one merchant'),
        merchantReference: reference
          .optional()
          .describe('only those with this reference of their merchant, also without the merchant'),
        rail: textUpTo(RAIL_LENGTH_MAX).optional().describe('only those at one rail'),
        operatorCode: textUpTo(RAIL_LENGTH_MAX)
          .optional()
          .describe('only those of one mobile operator, which only collections have'),
        open: onlyIfTrue.describe('only those that have not ended'),
        status: z
          .enum(paymentStatuses, { error: `must be one of ${paymentStatuses.join(', ')}` })
          .optional()
          .describe('only those with this status'),
        from: instant.optional().describe('only those accepted at this time or later'),
        to: instant.optional().describe('only those accepted before this time'),
        after: reference.optional(),
        limit: pageLimit(500, 50),
      })
      .refine(({ open, status }) => open === undefined || status === undefined, {
        error: 'either open or status, and not both',
      }),
    answers: { 200: pageOf(listedPayment) },
    refusals: { invalid: 400, too_broad: 400 },
    pages: 'after',
  },
  references: {
    method: 'get',
    path: '/payments/references',
    summary: "Lists merchants' references by ours, without unknown payments",
    query: z.object({ references }),
    answers: { 200: pageOf(common.pick({ reference: true, merchantReference: true })) },
    refusals: { invalid: 400 },
  },
});

/** What an operator gives up before it is sent (ADR 84). */
export const cancellationOperations = declareOperations({
  cancel: {
    method: 'post',
    path: '/payments/cancel',
    summary:
      'Cancels an unsent payout now (200), or once the ledger has answered its hold (202); `dryRun` only shows it',
    body: strictFields(
      { ...named, dryRun: z.boolean().default(false) },
      (names) => `${names.join(', ')} is no field of this request: your token says who you are`,
    ),
    answers: { 200: payoutView, 202: payoutView },
    dryRun: payoutView,
    refusals: { not_found: 404, ended: 409, maybe_sent: 409, unavailable: 503 },
  },
});
