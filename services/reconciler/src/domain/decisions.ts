import {
  accept,
  judgeDecision,
  type Money,
  type ProposalRefusal,
  parseAmount,
  proposalExpiryMs,
  type Result,
  refuse,
} from '@pesewa/kernel';
import type { BreakKind } from './break-kinds.ts';
import type { Tracked } from './tracked.ts';

/** The one kind of break that operators decide: what a customer paid (design 6). */
export const DECIDABLE: BreakKind = 'collection.amount_differs';

/** What an operator proposes that a customer paid. */
export interface DecisionWish {
  readonly breakId: string;
  /** Decimal text. */
  readonly amount: string;
  readonly note?: string | undefined;
}

/** A proposed amount of an open break, and what became of it; amounts in minor units of the currency. */
export type Decision = Money & {
  readonly id: string;
  readonly breakId: string;
  readonly reference: string;
  readonly note?: string | undefined;
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
  /** The rail's own fee of the amount by its schedule. */
  readonly railFee: bigint;
}

/** Why nothing can be decided about a break. */
export type BreakRefusal = 'break.unknown' | 'break.undecidable' | 'break.closed' | 'payment.ended';

/** Why a proposal is not taken. */
export type ProposeRefusal = BreakRefusal | 'amount.invalid' | 'decision.open' | 'decision.differs';

/** Why a decision about a proposal changes nothing. */
export type DecideRefusal =
  | BreakRefusal
  | 'rail.unconfigured'
  | 'decision.unknown'
  | `decision.${ProposalRefusal}`;

/** Every status, in the order in which a decision takes them. */
export const decisionStatuses = ['proposed', 'approved', 'rejected', 'applied'] as const;

/** How long an approved amount is waited for before another may be proposed. */
const APPLYING_MS = 10 * 60_000;

/** When a proposal can no longer be approved, in milliseconds since the epoch. */
export function expiryMsOf(decision: Decision): number {
  return proposalExpiryMs(decision);
}

/** Whether something may be decided about the break: an open one over an amount, whose collection has not ended. */
export function whyUndecidable(
  about: { readonly kind: string; readonly status: string } | undefined,
  tracked: Pick<Tracked, 'status'> | undefined,
): BreakRefusal | undefined {
  if (!about) return 'break.unknown';
  if (about.kind !== DECIDABLE) return 'break.undecidable';
  if (about.status !== 'open') return 'break.closed';
  return tracked?.status === 'open' ? undefined : 'payment.ended';
}

/** Reads the amount of a proposal: more than nothing, and no finer than the currency. */
export function readDecidedAmount(text: string, currency: string): Result<Money, 'amount.invalid'> {
  const amount = parseAmount(text, currency);
  return amount.ok && amount.value.minor > 0n ? accept(amount.value) : refuse('amount.invalid');
}

/**
 * Whether a decision keeps others from being proposed for its break.
 *
 * A proposal does while it can be approved. An approved one does while its collection may yet complete by it: if the
 * gateway refuses the amount, another can be decided after a while.
 */
export function blocksOthers(decision: Decision, nowMs: number): boolean {
  if (decision.status === 'proposed') return nowMs < expiryMsOf(decision);
  return decision.status === 'approved' && nowMs < decision.decidedAt.getTime() + APPLYING_MS;
}

/** Whether two proposals under one id are one: the same amount of the same break, by the same operator. */
export function isSameDecision(one: Decision, other: Decision): boolean {
  return (
    one.breakId === other.breakId &&
    one.minor === other.minor &&
    one.note === other.note &&
    one.requestedBy === other.requestedBy
  );
}

/** What an operator decides about a proposal. */
export interface Verdict {
  readonly verdict: 'approve' | 'reject';
  readonly reason?: string | undefined;
  readonly by: string;
  readonly at: Date;
}

/** Decides about a proposal by the rule of two operators; the same decision again gives the very same object. */
export function decide(
  decision: Decision,
  { verdict, reason, by, at }: Verdict,
  railFee: bigint,
): Result<Decision, `decision.${ProposalRefusal}`> {
  // What is applied was approved.
  const status = decision.status === 'applied' ? 'approved' : decision.status;
  const { requestedBy } = decision;
  const judged = judgeDecision({ status, requestedBy, at: decision.at }, { verdict, by, at });
  if (!judged.ok) return refuse(`decision.${judged.refusal}` as const);
  if (judged.value === 'repeated') return accept(decision);
  const decided = { ...decision, decidedBy: by, decidedAt: at };
  return verdict === 'approve'
    ? accept({ ...decided, status: 'approved', railFee })
    : accept({ ...decided, status: 'rejected', reason });
}
