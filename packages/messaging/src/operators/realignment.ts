import { accept, type Result, refuse } from '@pesewa/kernel';
import type { Position, PositionFacts } from '../inbox/position.ts';

/** What a realignment would do. */
export interface RealignPlan {
  /** The offset of the message that would come next. */
  readonly next: bigint;
  /** How many messages would be applied again; those that took effect before change nothing. */
  readonly appliedAgain: bigint;
  /** How many messages were never applied, and are gone: Kafka has removed them. */
  readonly skipped: bigint;
}

/** Why a realignment is refused. */
export type PlanRefusal = 'realign.fits' | 'realign.added' | 'realign.restored';

/**
 * Plans where a stopped partition goes on (ADR 43): with the first message that Kafka keeps, so none of those is skipped.
 * A restored database goes on where it stands, once it was repaired.
 */
export function planRealignment(
  { stored, bounds }: PositionFacts,
  position: Position,
  isRepaired: boolean,
): Result<RealignPlan, PlanRefusal> {
  const { low, high, committed = 0n } = bounds;
  if (position.kind !== 'stopped') return refuse('realign.fits');
  const { mismatch } = position;
  if (mismatch === 'added') return refuse('realign.added');
  if (mismatch === 'restored' && !isRepaired) return refuse('realign.restored');
  const next = mismatch === 'restored' ? (stored?.next ?? low) : low;
  // Of a topic that was created again we have applied nothing, however far we were in the old one.
  const once = mismatch === 'recreated' ? low : most(stored?.next ?? 0n, committed);
  const skipped = mismatch === 'messages removed' ? low - (stored?.next ?? low) : 0n;
  return accept({ next, appliedAgain: most(0n, least(once, high) - next), skipped });
}

const most = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** The latest realignment of a partition: its old and new position, and who asked for it. */
export interface Realignment extends RealignPlan {
  /** `<group>/<topic>/<partition>` */
  readonly id: string;
  /** The position in our database before; null if it had none. */
  readonly from: bigint | null;
  readonly reason: string;
  readonly requestedBy: string;
  readonly at: Date;
}
