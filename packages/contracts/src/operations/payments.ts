import { z } from 'zod';
import { reference } from '../text.ts';
import { declareOperations } from './operation.ts';

const MERCHANT_LENGTH_MAX = 64;

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

/** The payments of a gateway (ADR 32). */
export const paymentOperations = declareOperations({
  show: {
    method: 'get',
    path: '/payments',
    summary: 'Shows one payment by our reference, or by a merchant and its own or our reference',
    query: z.object({
      /** Ours, or with `merchant` the merchant's. */
      reference,
      merchant: z.string().min(1).max(MERCHANT_LENGTH_MAX).optional(),
    }),
    answers: { 200: paymentView },
    refusals: { not_found: 404, archived: 410 },
  },
});
