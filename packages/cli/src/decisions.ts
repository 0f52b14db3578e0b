import { z } from 'zod';
import type { Ask } from './ask.ts';
import { readPages } from './pages.ts';

/** The statuses of decisions, in the order in which a decision passes through them. */
export const decisionStatuses = ['proposed', 'approved', 'rejected', 'applied'] as const;

/**
 * The outcomes that people can decide for a payout: the rail has not paid and will not, or it paid the amount asked.
 */
export const decidedOutcomes = ['failed', 'completed'] as const;

const decision = z.object({
  id: z.string(),
  breakId: z.string(),
  reference: z.string(),
  currency: z.string(),
  amount: z.string(),
  outcome: z.enum(decidedOutcomes).optional(),
  note: z.string().optional(),
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
});

/** A decision as the reconciler shows it: amounts in decimal text, times in UTC. */
export type DecisionView = z.output<typeof decision>;

const breaks = z.object({
  items: z.array(
    z.object({
      kind: z.string(),
      status: z.string(),
      currency: z.string().nullable(),
      detail: z.string(),
      amount: z.string().nullable(),
    }),
  ),
});

/** An open break that people can decide, as the reconciler shows it. */
export type DecidableBreak = z.output<typeof breaks>['items'][number];

/** A proposed amount that a customer paid; the amount is a decimal string. */
export interface AmountProposal {
  readonly reference: string;
  readonly amount: string;
  readonly commandId: string;
  readonly note?: string;
}

/** A proposed outcome of a payout that its rail never ends, and how it is known. */
export interface OutcomeProposal {
  readonly reference: string;
  readonly outcome: (typeof decidedOutcomes)[number];
  readonly note: string;
  readonly commandId: string;
}

/**
 * The operators' decisions on what customers paid (ADR 23) and how payouts ended: proposed by one, approved by another.
 */
export interface Decisions {
  readonly propose: (proposal: AmountProposal | OutcomeProposal) => Promise<DecisionView>;
  readonly approve: (id: string) => Promise<DecisionView>;
  readonly reject: (id: string, reason: string | undefined) => Promise<DecisionView>;
  readonly show: (id: string) => Promise<DecisionView>;
  /** The newest first, at most `limit`. */
  readonly list: (query: {
    readonly status: DecisionView['status'] | undefined;
    readonly reference: string | undefined;
    readonly limit: number;
  }) => Promise<readonly DecisionView[]>;
  /** The open break about the collection's amount, if any. */
  readonly openBreak: (reference: string) => Promise<DecidableBreak | undefined>;
  /** The open break that people must decide before the payout can end, if any. */
  readonly stuckBreak: (reference: string) => Promise<DecidableBreak | undefined>;
}

const AMOUNT_DIFFERS = ['collection.amount_differs'];
const STUCK = [
  'payout.refused_again',
  'payout.not_found',
  'payment.stuck',
  'payment.end_untaken',
  'payout.amount_differs',
  'payment.contradiction',
];

/** Builds {@link Decisions}. */
export function createDecisions(ask: Ask): Decisions {
  const service = 'reconcilerUrl' as const;
  const firstOf = async (kinds: readonly string[], reference: string) => {
    const query = new URLSearchParams({ reference, status: 'unresolved' });
    const { items } = await ask(breaks, { service, path: `/breaks?${query.toString()}` });
    return kinds.map((kind) => items.find((one) => one.kind === kind)).find((one) => one !== undefined);
  };
  const path = (id: string) => `/decisions/${encodeURIComponent(id)}`;
  return {
    propose: (body) => ask(decision, { service, path: '/decisions', body }),
    show: (id) => ask(decision, { service, path: path(id) }),
    approve: (id) => ask(decision, { service, path: `${path(id)}/approve`, body: {}, approving: true }),
    reject: (id, reason) =>
      ask(decision, { service, path: `${path(id)}/reject`, body: reason === undefined ? {} : { reason } }),
    list: ({ status, reference, limit }) =>
      readPages(ask, decision, { service, path: '/decisions', query: { status, reference }, limit }),
    openBreak: (reference) => firstOf(AMOUNT_DIFFERS, reference),
    stuckBreak: (reference) => firstOf(STUCK, reference),
  };
}
