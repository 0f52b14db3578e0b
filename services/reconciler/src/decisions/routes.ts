import { decidableKinds, decisionOperations, formatPageCursor } from '@pesewa/contracts';
import { amountProblem } from '@pesewa/kernel';
import { answer, refusalsAs, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Decision } from '../domain/decisions.ts';
import type { Decisions } from './decisions.ts';
import { nameOf, viewDecision } from './views.ts';

const DECISIONS_PER_PAGE = 100;

/** The dependencies of the routes of decisions. */
export interface DecisionRouteDeps {
  readonly decisions: Decisions;
}

/** Adds the routes by which two operators decide what a customer paid, or how a payout ended (ADR 23). */
export function addDecisionRoutes(operator: Hono, { decisions }: DecisionRouteDeps): void {
  const decide = async (decided: Parameters<Decisions['decide']>[0]) => {
    const result = await decisions.decide(decided);
    return result.ok ? answer(200, viewDecision(result.value)) : refuseDecision(result.refusal);
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
    propose: async ({ body: { commandId: id, dryRun, ...request }, operator: by }) => {
      const proposed = await decisions.propose({ request, by, id, dryRun });
      if (proposed.ok) return answer(dryRun ? 200 : 202, viewDecision(proposed.value));
      const { refusal } = proposed;
      return typeof refusal === 'string'
        ? refuseDecision(refusal)
        : refused('undecided', whyUndecided(refusal.pending));
    },
    approve: ({ parameters: { id }, operator: by }) => decide({ id, verdict: 'approve', by }),
    reject: ({ parameters: { id }, body: { reason }, operator: by }) =>
      decide({ id, verdict: 'reject', reason, by }),
  });
}

const refuseDecision = refusalsAs({
  'break.unknown': [
    'not_found',
    'reference: no break of it waits for a decision; its timeline says where it stands',
  ],
  'break.undecidable': [
    'invalid',
    `reference must have a break ${decidableKinds.collection[0]}, or with an outcome one of a payout: ${decidableKinds.payout.join(', ')}`,
  ],
  'break.closed': ['closed', 'reference: its break is resolved'],
  'payment.ended': [
    'ended',
    'reference: the payment has ended, which no decision changes: correct what was booked by an order (pesewa adjust --help)',
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
  'decision.differs': ['duplicate', 'commandId was used before for another decision'],
  'decision.unknown': ['not_found', 'there is no such decision'],
  'decision.same_operator': [
    'same_operator',
    'you proposed it: another operator must approve it, with a token of their own',
  ],
  'decision.expired': ['expired', 'the proposal is older than seven days: reject it and propose it again'],
  'decision.decided': ['decided', 'the proposal is decided already: propose another to change that'],
});

/** What makes a decision final that must be so before another about its payment can be proposed. */
function whyUndecided(pending: Decision): string {
  const { _id: id, reference: of, requestedBy, status } = pending;
  return status === 'approved'
    ? `${id} (${nameOf(pending)}) is approved and not applied yet: if ${of} has not ended by it in ten minutes, propose again`
    : `${id} (${nameOf(pending)}, proposed by ${requestedBy}) about ${of} waits for another operator: approve or reject it first`;
}
