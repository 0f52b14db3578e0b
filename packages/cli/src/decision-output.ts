import type { DecisionView } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { consequenceOf, groundsOf } from '@pesewa/operator-client';

/** A decision in one line. */
export function decisionSummary(decision: DecisionView): string {
  const { id, status, reference, amount, currency, requestedBy } = decision;
  const money = displayAmount(amount, currency);
  const decider = decision.approvedBy ?? decision.rejectedBy;
  const decided =
    decider === undefined ? '' : `, ${decision.approvedBy ? 'approved' : 'rejected'} by ${decider}`;
  const what =
    decision.outcome === undefined
      ? `${reference} received ${money}`
      : `${reference} of ${money} ${decision.outcome}`;
  return `${status} ${id}: ${what}, proposed by ${requestedBy}${decided}\n`;
}

/** What both operators judge a decision by, in lines. */
export function decisionGrounds(decision: DecisionView): string {
  const shown = groundsOf(decision).map(([name, value]) => `${name}: ${value}\n`);
  const consequence = consequenceOf(decision);
  return `${shown.join('')}${consequence === undefined ? '' : `${consequence}\n`}`;
}
