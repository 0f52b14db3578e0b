import {
  breakOperations,
  type DecisionProposal,
  type DecisionView,
  decisionOperations,
  dryRunOf,
  type PaymentKind,
} from '@pesewa/contracts';
import { breakToDecide, type Caller } from '@pesewa/operator-client';

/**
 * Builds the client of operators' decisions on what customers paid (ADR 23) and how payouts ended: proposed by one,
 * approved by another.
 */
export function createDecisions({ call, list }: Caller) {
  const service = 'reconciler';
  const toDecide = async (kind: PaymentKind, reference: string) => {
    const query = { reference, status: 'unresolved' } as const;
    const { items } = await call(service, breakOperations.list, { query });
    return breakToDecide(kind, items);
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
    openBreak: (reference: string) => toDecide('collection', reference),
    /** The open break that people must decide before the payout can end, if any. */
    stuckBreak: (reference: string) => toDecide('payout', reference),
  };
}
