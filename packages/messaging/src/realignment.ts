import {
  accept,
  judgeDecision,
  type ProposalRefusal,
  proposalExpiryMs,
  type Result,
  refuse,
} from '@pesewa/kernel';
import type { Position, Standing } from './position.ts';

/** Where an operator wants a stopped partition to go on: where our database stands, at an end of what Kafka keeps, or there. */
export type RealignTarget = 'stored' | 'start' | 'end' | bigint;

/** What a realignment would do. */
export interface RealignPlan {
  /** The message that would come next. */
  readonly next: bigint;
  /** How many messages would be applied again; those that took effect change nothing. */
  readonly appliedAgain: bigint;
  /** How many messages would never be applied, as far as anyone knows; those that Kafka has removed are among them. */
  readonly skipped: bigint;
}

/** Why a partition is not realigned. */
export type PlanRefusal =
  | 'realign.fits'
  | 'realign.added'
  | 'realign.nothing_stored'
  | 'realign.not_kept'
  | 'realign.beyond_end';

/** Plans where a stopped partition goes on (ADR 43). */
export function planRealignment(
  standing: Standing,
  position: Position,
  to: RealignTarget,
): Result<RealignPlan, PlanRefusal> {
  const { stored, bounds } = standing;
  const { low, high, committed = 0n } = bounds;
  if (position.kind !== 'stopped') return refuse('realign.fits');
  if (position.misfit === 'added') return refuse('realign.added');
  if (to === 'stored' && stored === null) return refuse('realign.nothing_stored');
  const next = to === 'start' ? low : to === 'end' ? high : to === 'stored' ? (stored?.next ?? low) : to;
  if (next < low) return refuse('realign.not_kept');
  if (next > high) return refuse('realign.beyond_end');
  const surely = appliedBefore(standing, position.misfit);
  // Of a topic that was created again we have applied nothing, wherever we had come to in the old one.
  const once = position.misfit === 'recreated' ? low : most(stored?.next ?? 0n, committed);
  return accept({
    next,
    appliedAgain: most(0n, least(once, high) - next),
    skipped: most(0n, next - surely),
  });
}

/** Before which offset this database has surely applied everything; what is passed over beyond it is skipped. */
function appliedBefore({ stored, bounds }: Standing, misfit: string): bigint {
  // Elsewhere what lies at an offset may be another message than the one that we have applied.
  const isOurs = misfit === 'restored' || misfit === 'start gone';
  return isOurs && stored ? stored.next : bounds.low;
}

const most = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** A realignment of a partition, the last one: where from and where to, and by whom. */
export interface Realignment extends RealignPlan {
  /** `<group>/<topic>/<partition>` */
  readonly id: string;
  /** Of the topic that Kafka had then. */
  readonly topicId: string;
  /** Where our database stood; null where it had no position. */
  readonly from: bigint | null;
  readonly reason: string;
  readonly requestedBy: string;
  readonly at: Date;
  /** One that skips nothing is `done` at once. */
  readonly status: 'proposed' | 'approved' | 'rejected' | 'done';
  readonly decidedBy?: string | undefined;
  readonly decidedAt?: Date | undefined;
}

/** Why a realignment that skips messages is not proposed, or not decided. */
export type RealignmentRefusal = 'realign.open' | 'realign.none' | `realign.${ProposalRefusal}`;

/** Judges a proposal beside the last one: `repeated` is the same again. */
export function judgeRealignment(
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

/** Decides about a proposal: another operator approves it, anyone rejects it (ADR 17). */
export function decideRealignment(
  standing: Realignment | null,
  decision: { readonly verdict: 'approve' | 'reject'; readonly by: string; readonly at: Date },
): Result<{ readonly realignment: Realignment; readonly isFresh: boolean }, RealignmentRefusal> {
  if (!standing || standing.status === 'done') return refuse('realign.none');
  const judged = judgeDecision({ ...standing, status: standing.status }, decision);
  if (!judged.ok) return refuse(`realign.${judged.refusal}` as const);
  if (judged.value === 'repeated') return accept({ realignment: standing, isFresh: false });
  const status = decision.verdict === 'approve' ? 'approved' : 'rejected';
  const decided = { status, decidedBy: decision.by, decidedAt: decision.at } as const;
  return accept({ realignment: { ...standing, ...decided }, isFresh: true });
}
