import { DAY_MS } from './clock.ts';
import { accept, type Result, refuse } from './result.ts';

/** What the rule of two operators looks at in a proposal (ADR 17). */
export interface Proposal {
  readonly requestedBy: string;
  readonly at: Date;
  readonly status: 'proposed' | 'approved' | 'rejected';
}

/** Why a decision changes nothing: it is the maker's own approval, comes too late, or contradicts an earlier one. */
export type ProposalRefusal = 'same_operator' | 'expired' | 'decided';

/** How long a proposal can be approved: an older one was made under other circumstances. */
const PROPOSAL_LIFETIME_MS = 7 * DAY_MS;

/** When a proposal can no longer be approved, in milliseconds since the epoch. */
export function proposalExpiryMs({ at }: Pick<Proposal, 'at'>): number {
  return at.getTime() + PROPOSAL_LIFETIME_MS;
}

/**
 * Judges a decision about a proposal: another operator than the proposer approves it, any operator rejects it (ADR 17).
 *
 * `fresh` is to be written; `repeated` is the same decision again, which changes nothing.
 */
export function checkDecision(
  proposal: Proposal,
  decision: { readonly verdict: 'approve' | 'reject'; readonly by: string; readonly at: Date },
): Result<'fresh' | 'repeated', ProposalRefusal> {
  const { status } = proposal;
  if (decision.verdict === 'reject') {
    if (status === 'rejected') return accept('repeated');
    return status === 'approved' ? refuse('decided') : accept('fresh');
  }
  if (decision.by === proposal.requestedBy) return refuse('same_operator');
  if (status === 'approved') return accept('repeated');
  if (status === 'rejected') return refuse('decided');
  return decision.at.getTime() >= proposalExpiryMs(proposal) ? refuse('expired') : accept('fresh');
}
