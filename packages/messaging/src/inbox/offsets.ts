import type { ClientSession, Collection, Db } from 'mongodb';
import { LATEST } from '../database/mongo.ts';

/** How far one consumer group has applied one partition. This is authoritative; Kafka's own offset is only a copy. */
export interface ConsumerOffset {
  /** `<group>/<topic>/<partition>` */
  readonly _id: string;
  readonly next: bigint;
  /** The id of the topic: a topic that was deleted and created again is another one. */
  readonly topicId: string;
  readonly owner: string;
  /**
   * The offset that the group had committed to Kafka when an operator realigned the partition (ADR 43). Removed before
   * anything is applied from there on.
   */
  readonly acceptedCommitted?: bigint;
  /**
   * Where Kafka's log was found to end, if that is before the next offset. Once the log has grown again its offsets
   * look right, so this must be kept (ADR 43).
   */
  readonly truncatedAt?: bigint;
  /** When that was first found: messages written since are not those that were there before. */
  readonly truncationSeenAt?: Date;
  /** The ids of discarded events of this partition: they have no effect even if they are published again. */
  readonly discarded?: readonly string[];
}

/** Another owner has advanced the partition: this one must read the offset again before it goes on. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

/** The offsets of a service's database. */
export function offsetsOf(db: Db): Collection<ConsumerOffset> {
  return db.collection<ConsumerOffset>('consumer_offsets');
}

/** The position of a partition; right after a failover too it is the newest one, or the database would look restored. */
export function findOffset(offsets: Collection<ConsumerOffset>, id: string): Promise<ConsumerOffset | null> {
  return offsets.findOne({ _id: id }, LATEST);
}

/**
 * Writes the first offset of a partition that was never consumed before; gives the stored one, which may be another
 * owner's.
 */
export async function createOffset(
  offsets: Collection<ConsumerOffset>,
  { _id, ...begin }: ConsumerOffset,
): Promise<ConsumerOffset> {
  const found = await offsets.findOneAndUpdate(
    { _id },
    { $setOnInsert: begin },
    { upsert: true, returnDocument: 'after', readConcern: { level: 'majority' } },
  );
  return found ?? { _id, ...begin };
}

/** Records that Kafka's log ended before the next offset. */
export async function recordTruncation(
  offsets: Collection<ConsumerOffset>,
  {
    id,
    next,
    ...truncation
  }: {
    readonly id: string;
    readonly next: bigint;
    readonly truncatedAt: bigint;
    readonly truncationSeenAt: Date;
  },
): Promise<void> {
  await offsets.updateOne({ _id: id, next, truncatedAt: { $exists: false } }, { $set: truncation });
}

/** Removes that record once Kafka is known to have the messages after all. */
export async function clearTruncation(
  offsets: Collection<ConsumerOffset>,
  { id, next }: { readonly id: string; readonly next: bigint },
): Promise<void> {
  await offsets.updateOne({ _id: id, next }, { $unset: { truncatedAt: '', truncationSeenAt: '' } });
}

/** Removes what an operator accepted, once the group has committed the offset that it goes on from. */
export async function clearAcceptedCommit(
  offsets: Collection<ConsumerOffset>,
  { id, next }: { readonly id: string; readonly next: bigint },
): Promise<void> {
  await offsets.updateOne({ _id: id, next }, { $unset: { acceptedCommitted: '' } });
}

/** Records that an event of a partition must never have an effect, however often it is published. */
export async function recordDiscarded(
  offsets: Collection<ConsumerOffset>,
  { id, eventId }: { readonly id: string; readonly eventId: string },
  session: ClientSession,
): Promise<void> {
  await offsets.updateOne({ _id: id }, { $addToSet: { discarded: eventId } }, { session });
}

/**
 * Moves the offset within the transaction of the effects: this one write drops duplicates and fences off earlier
 * owners. Gives the ids of discarded events; discarding writes to this document too, so no batch misses one.
 */
export async function advanceOffset(
  offsets: Collection<ConsumerOffset>,
  move: { readonly id: string; readonly from: bigint; readonly to: bigint; readonly owner: string },
  session: ClientSession,
): Promise<readonly string[]> {
  if (move.to <= move.from) throw new RangeError(`the offset of ${move.id} must not go back`);
  const moved = await offsets.findOneAndUpdate(
    { _id: move.id, next: move.from },
    { $set: { next: move.to, owner: move.owner } },
    { session, projection: { discarded: 1 } },
  );
  if (!moved) throw new FencedError(`another owner has advanced ${move.id}`);
  return moved.discarded ?? [];
}
