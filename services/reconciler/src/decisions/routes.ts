import {
  type DecisionProposal,
  type DecisionView,
  decisionOperations,
  formatPageCursor,
} from '@pesewa/contracts';
import { amountProblem, displayAmount, formatAmount, proposalExpiryMs } from '@pesewa/kernel';
import { answer, refusalsAs, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { DECIDABLE, type Decision, type DecisionRequest, OUTCOME_DECIDABLE } from '../domain/decisions.ts';
import { breakId, breakOfKind } from '../domain/observing.ts';
import type { Decisions } from './decisions.ts';

const DECISIONS_PER_PAGE = 100;

/** The dependencies of the routes of decisions. */
export interface DecisionRouteDeps {
  readonly decisions: Decisions;
}

/** Adds the routes by which two operators decide what a customer paid, or how a payout ended (ADR 23). */
export function addDecisionRoutes(operator: Hono, { decisions }: DecisionRouteDeps): void {
  const decide = async (id: string, decision: Parameters<Decisions['decide']>[1]) => {
    const decided = await decisions.decide(id, decision);
    return decided.ok ? answer(200, viewDecision(decided.value)) : refuseDecision(decided.refusal);
  };
  const pending = async (reference: string | undefined) => {
    const { items } = await decisions.list({ reference, limit: DECISIONS_PER_PAGE });
    return items.find(({ status }) => status === 'proposed' || status === 'approved');
  };
  serveOperations(operator, decisionOperations, {
    list: async ({ query: { cursor: after, ...narrowed } }) => {
      const page = await decisions.list({ ...narrowed, after, limit: DECISIONS_PER_PAGE });
      const next = page.next && formatPageCursor(page.next);
      return answer(200, { items: page.items.map(viewDecision), next });
    },
    show: async ({ parameters: { id } }) => {
      const found = await decisions.find(id);
      return found ? answer(200, viewDecision(found)) : refuseDecision('decision.unknown');
    },
    propose: async ({ body, operator: by }) => {
      const { commandId: id, dryRun } = body;
      const given = { request: requestOf(body), by, dryRun, ...(id !== undefined && { id }) };
      const proposed = await decisions.propose(given);
      if (proposed.ok) return answer(dryRun ? 200 : 202, viewDecision(proposed.value));
      const about = body.reference ?? body.breakId?.split('/')[0];
      return proposed.refusal === 'decision.open'
        ? refused('undecided', whyUndecided(await pending(about)))
        : refuseDecision(proposed.refusal);
    },
    approve: ({ parameters: { id }, operator: by }) => decide(id, { verdict: 'approve', by }),
    reject: ({ parameters: { id }, body: { reason }, operator: by }) =>
      decide(id, { verdict: 'reject', reason, by }),
  });
}

/** The request of a proposal; which fields go together was checked before. */
function requestOf({
  breakId: id,
  reference: of = '',
  amount,
  outcome,
  note,
  despite,
}: DecisionProposal): DecisionRequest {
  const ofPayment = outcome ? [breakId(of, 'status'), breakId(of, 'amount')] : [breakOfKind(of, DECIDABLE)];
  return {
    breakIds: id === undefined ? ofPayment : [id],
    amount,
    outcome,
    note,
    ...(!outcome && { despite }),
  };
}

const refuseDecision = refusalsAs({
  'break.unknown': ['not_found', 'breakId or reference: there is no such break to decide about'],
  'break.undecidable': [
    'invalid',
    `breakId must be that of a break ${DECIDABLE}, or with an outcome that of a payout: ${OUTCOME_DECIDABLE.join(', ')}`,
  ],
  'break.closed': ['closed', 'breakId: the break is resolved'],
  'payment.ended': [
    'ended',
    'reference: the payment has ended: what was booked for it is corrected by an order to the ledger',
  ],
  'rail.unconfigured': [
    'rail_unconfigured',
    'the rail of the payment is not configured here, so its fee is not known',
  ],
  'amount.malformed': ['invalid', `amount ${amountProblem('amount.malformed')}`],
  'amount.not_positive': ['invalid', `amount ${amountProblem('amount.not_positive')}`],
  'amount.too_fine': ['invalid', `amount ${amountProblem('amount.too_fine')}`],
  'amount.too_large': ['invalid', `amount ${amountProblem('amount.too_large')}`],
  'amount.far_beyond': [
    'far_beyond',
    'amount: it is more than twice what was asked: look at it once more, and if it is right all the same, say why in despite',
  ],
  'decision.open': ['undecided', whyUndecided(undefined)],
  'decision.differs': ['duplicate', 'commandId was used before for another decision'],
  'decision.unknown': ['not_found', 'there is no such decision'],
  'decision.same_operator': [
    'same_operator',
    'you proposed it: another operator must approve it, with a token of their own',
  ],
  'decision.expired': ['expired', 'the proposal is older than seven days: reject it and propose it again'],
  'decision.decided': ['decided', 'the proposal is decided already: propose another to change that'],
});

/** Which decision must be final before another about its payment can be proposed, and what makes it final. */
function whyUndecided(pending: Decision | undefined): string {
  if (!pending) return 'another decision about this payment was proposed: see it, then approve or reject it';
  const { id, reference: of, requestedBy, outcome, minor, currency } = pending;
  const what = outcome ?? displayAmount(minor, currency);
  return pending.status === 'approved'
    ? `${id} (${what}) is approved and not applied yet: if ${of} has not ended by it in ten minutes, propose again`
    : `${id} (${what}, proposed by ${requestedBy}) about ${of} waits for another operator: approve or reject it first`;
}

/** A decision as operators see it: amounts in decimal text, times in UTC. */
function viewDecision(decision: Decision): DecisionView {
  const { id, breakId: about, reference: of, currency, minor, requestedBy, at } = decision;
  const { merchantId, rail, asked, claimed, outcome, note, despite, status } = decision;
  return {
    id,
    breakId: about,
    reference: of,
    currency,
    amount: formatAmount(minor, currency),
    merchantId,
    rail,
    asked: formatAmount(asked, currency),
    claimed: claimed === undefined ? undefined : formatAmount(claimed, currency),
    outcome,
    note,
    despite,
    status,
    requestedBy,
    requestedAt: at.toISOString(),
    ...viewOutcome(decision),
  };
}

function viewOutcome(decision: Decision): Partial<DecisionView> {
  if (decision.status === 'proposed')
    return { expiresAt: new Date(proposalExpiryMs(decision)).toISOString() };
  const { decidedBy, decidedAt } = decision;
  const at = decidedAt.toISOString();
  if (decision.status === 'rejected')
    return { rejectedBy: decidedBy, rejectedAt: at, rejectedFor: decision.reason };
  return {
    approvedBy: decidedBy,
    approvedAt: at,
    railFee: formatAmount(decision.railFee, decision.currency),
    appliedAt: decision.status === 'applied' ? decision.appliedAt.toISOString() : undefined,
  };
}

/** The lines of a payment's timeline about its decisions. */
export function timelineOf(
  decisions: readonly Decision[],
): readonly { readonly at: Date; readonly detail: string }[] {
  return decisions.flatMap((decision) => {
    const { outcome } = decision;
    const what = outcome === undefined ? displayAmount(decision.minor, decision.currency) : `“${outcome}”`;
    const lines = [{ at: decision.at, detail: `${what} proposed by ${decision.requestedBy}` }];
    if (decision.status === 'proposed') return lines;
    const verdict = decision.status === 'rejected' ? 'rejected' : 'approved';
    lines.push({ at: decision.decidedAt, detail: `${what} ${verdict} by ${decision.decidedBy}` });
    if (decision.status === 'applied') lines.push({ at: decision.appliedAt, detail: `${what} applied` });
    return lines;
  });
}
