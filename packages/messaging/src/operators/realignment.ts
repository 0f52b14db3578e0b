import {
  accept,
  checkDecision,
  type ProposalRefusal,
  proposalExpiryMs,
  type Result,
  refuse,
} from '@pesewa/kernel';
import type { Position, PositionFacts } from '../inbox/position.ts';

/**
 * Where an operator wants a stopped partition to go on: where our database stands, at the start or end of what Kafka
 * keeps, or at an offset.
 */
export type RealignTarget = 'stored' | 'start' | 'end' | bigint;

/** What a realignment would do. */
export interface RealignPlan {
  /** The offset of the message that would come next. */
  readonly next: bigint;
  /** How many messages would be applied again; those that took effect before change nothing. */
  readonly appliedAgain: bigint;
  /** How many messages may never be applied, including those that Kafka has removed. */
  readonly skipped: bigint;
}

/** Why a realignment is refused. */
export type PlanRefusal =
  | 'realign.fits'
  | 'realign.added'
  | 'realign.nothing_stored'
  | 'realign.not_kept'
  | 'realign.beyond_end';

/** Plans where a stopped partition goes on (ADR 43). */
export function planRealignment(
  standing: PositionFacts,
  position: Position,
  to: RealignTarget,
): Result<RealignPlan, PlanRefusal> {
  const { stored, bounds } = standing;
  const { low, high, committed = 0n } = bounds;
  if (position.kind !== 'stopped') return refuse('realign.fits');
  if (position.mismatch === 'added') return refuse('realign.added');
  if (to === 'stored' && stored === null) return refuse('realign.nothing_stored');
  const next = to === 'start' ? low : to === 'end' ? high : to === 'stored' ? (stored?.next ?? low) : to;
  if (next < low) return refuse('realign.not_kept');
  if (next > high) return refuse('realign.beyond_end');
  const surely = appliedBefore(standing, position.mismatch);
  // Of a topic that was created again we have applied nothing, however far we were in the old one.
  const once = position.mismatch === 'recreated' ? low : most(stored?.next ?? 0n, committed);
  return accept({
    next,
    appliedAgain: most(0n, least(once, high) - next),
    skipped: most(0n, next - surely),
  });
}

/** The offset before which this database has surely applied everything; messages from there on count as skipped. */
function appliedBefore({ stored, bounds }: PositionFacts, mismatch: string): bigint {
  // With any other mismatch, the message at an offset may not be the one that we applied.
  const isOurs = mismatch === 'restored' || mismatch === 'messages removed';
  return isOurs && stored ? stored.next : bounds.low;
}

const most = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** The latest realignment of a partition: its old and new position, and who asked for it. */
export interface Realignment extends RealignPlan {
  /** `<group>/<topic>/<partition>` */
  readonly id: string;
  /** The id of the topic that Kafka had then. */
  readonly topicId: string;
  /** The position in our database before; null if it had none. */
  readonly from: bigint | null;
  readonly reason: string;
  readonly requestedBy: string;
  readonly at: Date;
  /** A realignment that skips no message is `done` at once. */
  readonly status: 'proposed' | 'approved' | 'rejected' | 'done';
  readonly decidedBy?: string | undefined;
  readonly decidedAt?: Date | undefined;
  readonly rejectedFor?: string | undefined;
}

/** Why a realignment that skips messages can't be proposed or decided. */
export type RealignmentRefusal =
  | 'realign.open'
  | 'realign.none'
  | 'realign.changed'
  | `realign.${ProposalRefusal}`;

/** Judges a proposal in view of the latest one: `repeated` is the same proposal again. */
export function checkRealignment(
  standing: Realignment | null,
  proposed: Realignment,
): Result<'fresh' | 'repeated', RealignmentRefusal> {
  const isOpen =
    standing?.status === 'proposed' && proposed.at.getTime() < proposalExpiryMs({ at: standing.at });
  if (!isOpen) return accept('fresh');
  const isSame =
    standing.requestedBy === proposed.requestedBy &&
    standing.reason === proposed.reason &&
    standing.next === proposed.next;
  return isSame ? accept('repeated') : refuse('realign.open');
}

/**
 * A decision about the proposal that was made at `requestedAt`: one that starts at the same message may be made again from
 * another position, and skips other messages.
 */
export type RealignmentDecision = { readonly requestedAt: Date; readonly by: string } & (
  | { readonly verdict: 'approve' }
  | { readonly verdict: 'reject'; readonly reason: string }
);

/** Decides about a proposal: another operator may approve it, anyone may reject it (ADR 17). */
export function decideRealignment(
  standing: Realignment | null,
  decision: RealignmentDecision & { readonly at: Date },
): Result<{ readonly realignment: Realignment; readonly isFresh: boolean }, RealignmentRefusal> {
  if (!standing || standing.status === 'done') return refuse('realign.none');
  if (decision.requestedAt.getTime() !== standing.at.getTime()) return refuse('realign.changed');
  const judged = checkDecision({ ...standing, status: standing.status }, decision);
  if (!judged.ok) return refuse(`realign.${judged.refusal}` as const);
  if (judged.value === 'repeated') return accept({ realignment: standing, isFresh: false });
  const verdict =
    decision.verdict === 'approve'
      ? ({ status: 'approved' } as const)
      : ({ status: 'rejected', rejectedFor: decision.reason } as const);
  const decided = { ...standing, ...verdict, decidedBy: decision.by, decidedAt: decision.at };
  return accept({ realignment: decided, isFresh: true });
}
