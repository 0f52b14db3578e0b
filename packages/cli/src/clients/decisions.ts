import {
  breakOperations,
  type DecisionProposal,
  type DecisionView,
  decisionOperations,
  dryRunOf,
} from '@pesewa/contracts';
import { type Caller } from '@pesewa/operator-client';

const AMOUNT_DIFFERS = ['collection.amount_differs'];
const STUCK = [
  'payout.refused_again',
  'payout.not_found',
  'payment.stuck',
  'payment.end_untaken',
  'payout.amount_differs',
  'payment.contradiction',
];

/**
 * Builds the client of operators' decisions on what customers paid (ADR 23) and how payouts ended: proposed by one,
 * approved by another.
 */
export function createDecisions({ call, list }: Caller) {
  const service = 'reconciler';
  const firstOf = async (kinds: readonly string[], reference: string) => {
    const query = { reference, status: 'unresolved' } as const;
    const { items } = await call(service, breakOperations.list, { query });
    return kinds.map((kind) => items.find((one) => one.kind === kind)).find((one) => one !== undefined);
  };
  const { propose, show, approve, reject } = decisionOperations;
  return {
    propose: (body: DecisionProposal & { readonly commandId: string }) => call(service, propose, { body }),
    /** What would be proposed, or why it would be refused. */
    preview: (body: DecisionProposal) =>
      call(service, dryRunOf(propose), { body: { ...body, dryRun: true } }),
    show: (id: string) => call(service, show, { parameters: { id } }),
    approve: (id: string) => call(service, approve, { parameters: { id } }),
    reject: (id: string, reason: string) => call(service, reject, { parameters: { id }, body: { reason } }),
    /** The newest first, at most `limit`. */
    list: async (
      query: { readonly status: DecisionView['status'] | undefined; readonly reference: string | undefined },
      limit: number,
    ) => (await list(service, decisionOperations.list, query, limit)).items,
    /** The open break about the collection's amount, if any. */
    openBreak: (reference: string) => firstOf(AMOUNT_DIFFERS, reference),
    /** The open break that people must decide before the payout can end, if any. */
    stuckBreak: (reference: string) => firstOf(STUCK, reference),
  };
}
