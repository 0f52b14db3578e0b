import { type DecisionProposal, type DecisionView, decidableKinds } from '@pesewa/contracts';
import {
  accept,
  checkDecision,
  type PositiveAmountRefusal,
  type ProposalRefusal,
  parsePositiveAmount,
  proposalExpiryMs,
  type Result,
  refuse,
} from '@pesewa/kernel';
import { type Break, kindsOf } from './break.ts';
import type { BreakKind } from './break-kinds.ts';
import type { Terms, Tracked } from './tracked.ts';

/** An operator's proposal: an amount that a customer paid, as decimal text, or an outcome of a payout. */
export type DecisionRequest = Readonly<Omit<DecisionProposal, 'commandId' | 'dryRun'>>;

/**
 * A proposal about an open break, and what became of it, as it is stored: what operators see of it, with amounts in minor
 * units. `amount` is what the customer paid or, for an outcome, what the payout asks for; `claimed` is what its callback
 * claimed then; `railFee` is the rail's own by its schedule.
 */
export type Decision = { readonly _id: string } & {
  readonly [Name in keyof Omit<DecisionView, 'id' | 'expiresAt'>]: Stored<Name>;
};

type Stored<Name extends keyof DecisionView> =
  | (Name extends `${string}At`
      ? Date
      : Name extends 'amount' | 'asked' | 'claimed' | 'railFee'
        ? bigint
        : DecisionView[Name])
  | Extract<DecisionView[Name], undefined>;

/** A decision that two operators have agreed on. */
export type ApprovedDecision = Decision & {
  readonly approvedBy: string;
  readonly approvedAt: Date;
  readonly railFee: bigint;
};

/** Why nothing can be decided about a break. */
export type UndecidableReason = 'break.unknown' | 'break.undecidable' | 'break.closed' | 'payment.ended';

/** Why a proposal is refused; `pending` must be final first. */
export type ProposeRefusal =
  | UndecidableReason
  | PositiveAmountRefusal
  | 'amount.far_beyond'
  | 'decision.differs'
  | { readonly pending: Decision };

/** Why a decision about a proposal is refused. */
export type DecideRefusal =
  | UndecidableReason
  | 'rail.unconfigured'
  | 'decision.unknown'
  | `decision.${ProposalRefusal}`;

/** How long an approved decision is awaited before another may be proposed. */
const APPLYING_MS = 10 * 60_000;

/** The subject of a decision: the open break of an open payment. */
export interface Matter {
  readonly about: Break;
  readonly tracked: Tracked;
  readonly terms: Terms;
}

/**
 * Chooses the break that a decision is about, an open one of those found, that of the status first: an amount is decided
 * for a break about a collection's amount, an outcome for one that keeps a payout from its end, and only while the payment
 * is open too.
 */
export function matterOf(
  { outcome }: Pick<DecisionRequest, 'outcome'>,
  found: readonly Break[],
  tracked: Tracked | undefined,
): Result<Matter, UndecidableReason> {
  const kind = outcome === undefined ? 'collection' : 'payout';
  const kinds: readonly BreakKind[] = decidableKinds[kind];
  const decidable = found
    .filter((one) => kindsOf(one).some((each) => kinds.includes(each)))
    .toSorted((one, other) => Number(other.field === 'status') - Number(one.field === 'status'));
  const about = decidable.find(({ status }) => status === 'open') ?? decidable[0];
  if (!about) return refuse(found.length === 0 ? 'break.unknown' : 'break.undecidable');
  if (about.status !== 'open') return refuse('break.closed');
  if (tracked?.status !== 'open') return refuse('payment.ended');
  const { terms } = tracked;
  return terms?.kind === kind ? accept({ about, tracked, terms }) : refuse('break.undecidable');
}

/** A proposal beyond this many times the amount asked needs a reason: a slip of the decimal point is at least ten times. */
const ASKED_TIMES_MAX = 2n;

/** Whether a proposed amount is so far beyond the one asked that its proposer must say why it is right. */
export function isFarBeyond(proposed: bigint, asked: bigint): boolean {
  return proposed > asked * ASKED_TIMES_MAX;
}

/**
 * Whether a decision prevents other proposals for its payment.
 *
 * A proposal does while it can be approved. An approved one does while its payment may still end by it: if the gateway
 * refuses it, another can be decided after a while.
 */
export function blocksOthers({ status, requestedAt, approvedAt }: Decision, nowMs: number): boolean {
  if (status === 'proposed') return nowMs < proposalExpiryMs({ at: requestedAt });
  return status === 'approved' && approvedAt !== undefined && nowMs < approvedAt.getTime() + APPLYING_MS;
}

/** Whether a proposal under an id that is taken is the same: about the same payment, by the same operator. */
export function isSameDecision(taken: Decision, request: DecisionRequest, by: string): boolean {
  const amount = parsePositiveAmount(request.amount ?? '', taken.currency);
  return (
    taken.reference === request.reference &&
    taken.outcome === request.outcome &&
    (taken.outcome !== undefined || (amount.ok && amount.value.minor === taken.amount)) &&
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
}

/** Judges a verdict by the rule of two operators; a `repeated` one changes nothing. */
export function checkVerdict(
  { status, requestedBy, requestedAt }: Decision,
  { verdict, by }: OperatorVerdict,
  at: Date,
): Result<'fresh' | 'repeated', `decision.${ProposalRefusal}`> {
  // An applied decision was approved before.
  const proposal = { requestedBy, at: requestedAt, status: status === 'applied' ? 'approved' : status };
  const checked = checkDecision(proposal, { verdict, by, at });
  return checked.ok ? checked : refuse(`decision.${checked.refusal}` as const);
}
