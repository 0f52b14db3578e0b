import type { DecisionView } from '@pesewa/contracts';
import { displayAmount, formatAmount, proposalExpiryMs } from '@pesewa/kernel';
import type { Decision } from '../domain/decisions.ts';

/** A decision as operators see it: amounts in decimal text, times in UTC. */
export function viewDecision(decision: Decision): DecisionView {
  const { _id: id, amount, asked, claimed, railFee, ...said } = decision;
  const { requestedAt, approvedAt, rejectedAt, appliedAt, currency, status } = said;
  const text = (minor: bigint | undefined) =>
    minor === undefined ? undefined : formatAmount(minor, currency);
  return {
    ...said,
    id,
    amount: formatAmount(amount, currency),
    asked: text(asked),
    claimed: text(claimed),
    railFee: text(railFee),
    requestedAt: requestedAt.toISOString(),
    ...(status === 'proposed' && {
      expiresAt: new Date(proposalExpiryMs({ at: requestedAt })).toISOString(),
    }),
    approvedAt: approvedAt?.toISOString(),
    rejectedAt: rejectedAt?.toISOString(),
    appliedAt: appliedAt?.toISOString(),
  };
}

/** What a decision says, in words for people. */
export function nameOf({ outcome, amount, currency }: Decision): string {
  return outcome ?? displayAmount(amount, currency);
}

/** What became of a decision, and by whom; the end of its payment applies it. */
export function historyOf(decision: Decision) {
  const { requestedAt, approvedAt, rejectedAt, appliedAt } = decision;
  const lines = [
    { at: requestedAt, what: 'proposed', by: decision.requestedBy },
    { at: approvedAt, what: 'approved', by: decision.approvedBy },
    { at: rejectedAt, what: 'rejected', by: decision.rejectedBy },
    { at: appliedAt, what: 'applied', by: undefined },
  ];
  return lines.flatMap(({ at, what, by = null }) => (at ? [{ at, what, by }] : []));
}
