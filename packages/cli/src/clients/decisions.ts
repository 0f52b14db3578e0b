import { type BreakView, breakOperations, type DecisionView, decisionOperations } from '@pesewa/contracts';
import type { Caller } from './call.ts';

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
  readonly outcome: NonNullable<DecisionView['outcome']>;
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
  readonly openBreak: (reference: string) => Promise<BreakView | undefined>;
  /** The open break that people must decide before the payout can end, if any. */
  readonly stuckBreak: (reference: string) => Promise<BreakView | undefined>;
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
export function createDecisions({ call, list }: Caller): Decisions {
  const service = 'reconciler';
  const firstOf = async (kinds: readonly string[], reference: string) => {
    const query = { reference, status: 'unresolved' } as const;
    const { items } = await call(service, breakOperations.list, { query });
    return kinds.map((kind) => items.find((one) => one.kind === kind)).find((one) => one !== undefined);
  };
  const { propose, show, approve, reject } = decisionOperations;
  return {
    propose: (body) => call(service, propose, { body }),
    show: (id) => call(service, show, { parameters: { id } }),
    approve: (id) => call(service, approve, { parameters: { id } }),
    reject: (id, reason) => call(service, reject, { parameters: { id }, body: { reason } }),
    list: async ({ limit, ...query }) => (await list(service, decisionOperations.list, query, limit)).items,
    openBreak: (reference) => firstOf(AMOUNT_DIFFERS, reference),
    stuckBreak: (reference) => firstOf(STUCK, reference),
  };
}
