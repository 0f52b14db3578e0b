import { z } from 'zod';
import type { PaymentKind } from '../payments.ts';
import { commandId, reference, seenLine } from '../text.ts';
import { pageCursor, pageOf, textUpTo } from './lists.ts';
import { declareOperations, reasonLine, strictFields } from './operation.ts';

const NOTE_LENGTH_MAX = 200;

/** The statuses of decisions, in the order in which a decision passes through them. */
export const decisionStatuses = ['proposed', 'approved', 'rejected', 'applied'] as const;

/**
 * The outcomes that people can decide for a payout: the rail has not paid and will not, or it paid the amount asked.
 */
export const decidedOutcomes = ['failed', 'completed'] as const;

/**
 * The kinds of breaks about which people can decide, by the kind of payment: what a customer paid, or how a payout ended that
 * its rail may never end. The first counts.
 */
export const decidableKinds = {
  collection: ['collection.amount_differs'],
  payout: [
    'payout.refused_again',
    'payout.not_found',
    'payment.stuck',
    'payment.end_untaken',
    'payout.amount_differs',
    'payment.contradiction',
  ],
} as const satisfies Readonly<Record<PaymentKind, readonly string[]>>;

const decisionView = z
  .object({
    id: z.string(),
    breakId: z.string(),
    reference: z.string(),
    currency: z.string(),
    amount: z.string(),
    /** Whose wallet and which float it moves. */
    merchantId: z.string().optional(),
    rail: z.string().optional(),
    /** What the payment asks for, and what its callback claimed when this was proposed, if that is readable. */
    asked: z.string().optional(),
    claimed: z.string().optional(),
    outcome: z.enum(decidedOutcomes).optional(),
    note: z.string().optional(),
    /** Why an amount is right that is far beyond what was asked. */
    despite: z.string().optional(),
    status: z.enum(decisionStatuses),
    requestedBy: z.string(),
    requestedAt: z.string(),
    expiresAt: z.string().optional(),
    approvedBy: z.string().optional(),
    approvedAt: z.string().optional(),
    railFee: z.string().optional(),
    rejectedBy: z.string().optional(),
    rejectedAt: z.string().optional(),
    rejectedFor: z.string().optional(),
    appliedAt: z.string().optional(),
  })
  .meta({ id: 'Decision' });

/** A decision; amounts are decimal text, times in UTC. */
export type DecisionView = z.output<typeof decisionView>;

const fields = <Shape extends z.ZodRawShape>(shape: Shape) =>
  strictFields(
    shape,
    (names) => `${names.join(', ')} is no field of a decision: your token says who you are`,
  );

const proposal = fields({
  reference,
  amount: z.string({ error: 'must be a decimal text' }).optional(),
  outcome: z.enum(decidedOutcomes, { error: `must be one of ${decidedOutcomes.join(', ')}` }).optional(),
  note: seenLine(NOTE_LENGTH_MAX).optional(),
  despite: seenLine(NOTE_LENGTH_MAX).optional(),
  commandId: commandId.optional(),
  /** Only shows what would be proposed. */
  dryRun: z.boolean().default(false),
})
  .refine((body) => (body.amount === undefined) !== (body.outcome === undefined), {
    error: 'either amount or outcome is required, and not both: amount must be a decimal text',
  })
  .refine((body) => body.outcome === undefined || body.note !== undefined, {
    error: 'note is required with an outcome: how do you know that it ended so?',
  });

/** The proposal of a decision about a payment. */
export type DecisionProposal = z.input<typeof proposal>;

const refusals = {
  invalid: 400,
  far_beyond: 409,
  not_found: 404,
  closed: 409,
  ended: 409,
  rail_unconfigured: 409,
  undecided: 409,
  duplicate: 409,
  same_operator: 403,
  expired: 409,
  decided: 409,
} as const;

/** What people decide about payments: the amount that a customer paid, or how a payout ended (ADR 23). */
export const decisionOperations = declareOperations({
  list: {
    method: 'get',
    path: '/decisions',
    summary: 'Lists decisions, newest first',
    query: z.object({
      status: z.enum(decisionStatuses).optional().describe('only those with this status'),
      reference: textUpTo(120).optional().describe('only those of one payment, by our transactionReference'),
      cursor: pageCursor.optional(),
    }),
    answers: { 200: pageOf(decisionView) },
    pages: 'cursor',
  },
  show: {
    method: 'get',
    path: '/decisions/{id}',
    summary: 'Shows a decision',
    answers: { 200: decisionView },
    refusals,
  },
  propose: {
    method: 'post',
    path: '/decisions',
    summary: 'Proposes an amount, or an outcome and how it is known, once per id; `dryRun` only shows it',
    body: proposal,
    answers: { 202: decisionView },
    dryRun: decisionView,
    refusals,
  },
  approve: {
    method: 'post',
    path: '/decisions/{id}/approve',
    summary: 'Approves what another operator proposed',
    caller: 'second',
    answers: { 200: decisionView },
    refusals,
  },
  reject: {
    method: 'post',
    path: '/decisions/{id}/reject',
    summary: 'Rejects a proposal',
    body: fields({ reason: reasonLine }),
    answers: { 200: decisionView },
    refusals,
  },
});
