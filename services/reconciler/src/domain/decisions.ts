import { type DecisionView } from '@pesewa/contracts';
import {
  accept,
  checkDecision,
  type Money,
  type PositiveAmountRefusal,
  type ProposalRefusal,
  parsePositiveAmount,
  proposalExpiryMs,
  type Result,
  refuse,
} from '@pesewa/kernel';
import type { BreakKind } from './break-kinds.ts';
import type { Terms, Tracked } from './tracked.ts';

/** The only kind of break in which operators decide an amount: what a customer paid (ADR 23). */
export const DECIDABLE: BreakKind = 'collection.amount_differs';

/**
 * The kinds of breaks of an open payout whose outcome operators can decide, because its rail may never end it.
 * If none is named, a decision is about the first open one: that of its status, or else of its amount.
 */
export const OUTCOME_DECIDABLE: readonly BreakKind[] = [
  'payout.refused_again',
  'payout.not_found',
  'payment.stuck',
  'payment.end_untaken',
  'payout.amount_differs',
  'payment.contradiction',
];

/** A possible outcome: the rail has not paid and will not, or it paid the amount asked. */
export type DecidedOutcome = NonNullable<DecisionView['outcome']>;

/** An operator's proposal: an amount that a customer paid, as decimal text, or an outcome of a payout. */
export interface DecisionRequest {
  /** The breaks that it may be about; the first open one counts. */
  readonly breakIds: readonly string[];
  readonly amount?: string | undefined;
  readonly outcome?: DecidedOutcome | undefined;
  /** How it is known; always given with an outcome. */
  readonly note?: string | undefined;
  /** Why an amount is right although it is far beyond what was asked. */
  readonly despite?: string | undefined;
}

/**
 * A proposal about an open break, and the decision about it. Amounts are in minor units: what the customer paid or, for
 * an outcome, what the payout asks for.
 */
export type Decision = Money & {
  readonly id: string;
  readonly outcome?: DecidedOutcome | undefined;
  readonly breakId: string;
  readonly reference: string;
  readonly note?: string | undefined;
  readonly despite?: string | undefined;
  /** What the payment asks for. */
  readonly asked: bigint;
  /** What its callback claimed then; absent if none claims a readable amount. */
  readonly claimed?: bigint | undefined;
  readonly merchantId: string;
  readonly rail: string;
  readonly requestedBy: string;
  readonly at: Date;
} & (
    | { readonly status: 'proposed' }
    | {
        readonly status: 'rejected';
        readonly decidedBy: string;
        readonly decidedAt: Date;
        readonly reason?: string | undefined;
      }
    | (Approval & { readonly status: 'approved' })
    | (Approval & { readonly status: 'applied'; readonly appliedAt: Date })
  );

interface Approval {
  readonly decidedBy: string;
  readonly decidedAt: Date;
  /** The rail's own fee for the amount, by its schedule. */
  readonly railFee: bigint;
}

/** A decision that two operators have agreed on. */
export type ApprovedDecision = Extract<Decision, { readonly status: 'approved' }>;

/** Why nothing can be decided about a break. */
export type UndecidableReason = 'break.unknown' | 'break.undecidable' | 'break.closed' | 'payment.ended';

/** Why a proposal is refused. */
export type ProposeRefusal =
  | UndecidableReason
  | PositiveAmountRefusal
  | 'amount.far_beyond'
  | 'decision.open'
  | 'decision.differs';

/** Why a decision about a proposal is refused. */
export type DecideRefusal =
  | UndecidableReason
  | 'rail.unconfigured'
  | 'decision.unknown'
  | `decision.${ProposalRefusal}`;

/** How long an approved decision is awaited before another may be proposed. */
const APPLYING_MS = 10 * 60_000;

/**
 * Why the break can't be decided; undefined if it can. An amount can be decided for a break about a collection's
 * amount, an outcome for a break that keeps a payout from its end, and only while both the break and its payment are
 * open.
 */
export function whyUndecidable(
  about: { readonly kinds: readonly BreakKind[]; readonly status: string },
  tracked: (Pick<Tracked, 'status'> & { readonly terms?: Pick<Terms, 'kind'> | null }) | undefined,
  what: 'amount' | 'outcome',
): UndecidableReason | undefined {
  const decidable = what === 'amount' ? [DECIDABLE] : OUTCOME_DECIDABLE;
  if (!about.kinds.some((kind) => decidable.includes(kind))) return 'break.undecidable';
  if (what === 'outcome' && tracked?.terms?.kind === 'collection') return 'break.undecidable';
  if (about.status !== 'open') return 'break.closed';
  return tracked?.status === 'open' ? undefined : 'payment.ended';
}

/** A proposal beyond this many times the amount asked needs a reason: a slip of the decimal point is at least ten times. */
const ASKED_TIMES_MAX = 2n;

/** Whether a proposed amount is so far beyond the one asked that its proposer must say why it is right. */
export function isFarBeyond(proposed: bigint, asked: bigint): boolean {
  return proposed > asked * ASKED_TIMES_MAX;
}

/**
 * Whether a decision prevents other proposals for its break.
 *
 * A proposal does while it can be approved. An approved one does while its collection may still complete by it: if the
 * gateway refuses the amount, another can be decided after a while.
 */
export function blocksOthers(decision: Decision, nowMs: number): boolean {
  if (decision.status === 'proposed') return nowMs < proposalExpiryMs(decision);
  return decision.status === 'approved' && nowMs < decision.decidedAt.getTime() + APPLYING_MS;
}

/** Whether a proposal under an id that is taken is the same: about the same break, by the same operator. */
export function isSameDecision(taken: Decision, request: DecisionRequest, by: string): boolean {
  const amount = parsePositiveAmount(request.amount ?? '', taken.currency);
  return (
    request.breakIds.includes(taken.breakId) &&
    taken.outcome === request.outcome &&
    (taken.outcome !== undefined || (amount.ok && amount.value.minor === taken.minor)) &&
    taken.note === request.note &&
    taken.despite === request.despite &&
    taken.requestedBy === by
  );
}

/** An operator's verdict on a proposal. */
export interface OperatorVerdict {
  readonly verdict: 'approve' | 'reject';
  readonly reason?: string | undefined;
  readonly by: string;
  readonly at: Date;
}

/** Decides about a proposal by the rule of two operators; the same decision again gives the same object. */
export function decide(
  decision: Decision,
  { verdict, reason, by, at }: OperatorVerdict,
  railFee: bigint,
): Result<Decision, `decision.${ProposalRefusal}`> {
  // An applied decision was approved before.
  const status = decision.status === 'applied' ? 'approved' : decision.status;
  const { requestedBy } = decision;
  const judged = checkDecision({ status, requestedBy, at: decision.at }, { verdict, by, at });
  if (!judged.ok) return refuse(`decision.${judged.refusal}` as const);
  if (judged.value === 'repeated') return accept(decision);
  const decided = { ...decision, decidedBy: by, decidedAt: at };
  return verdict === 'approve'
    ? accept({ ...decided, status: 'approved', railFee })
    : accept({ ...decided, status: 'rejected', reason });
}
