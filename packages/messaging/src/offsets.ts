import type { ClientSession, Collection, Db } from 'mongodb';

/** How far one consumer group has applied one partition: the truth that Kafka's own offset only hints at. */
export interface ConsumerOffset {
  /** `<group>/<topic>/<partition>` */
  readonly _id: string;
  readonly next: bigint;
  /** Of which topic: one that is deleted and created again is another. */
  readonly topicId: string;
  readonly owner: string;
  /**
   * What Kafka knew the group to have committed when an operator realigned the partition (ADR 43); gone before anything is
   * applied from there on.
   */
  readonly acceptedCommitted?: bigint;
  /** Where Kafka's log was found to end, before what comes next: once it has grown again, its offsets look right (ADR 43). */
  readonly cutAt?: bigint;
  /** When it was found first: what was written since is not what was there before. */
  readonly cutSeenAt?: Date;
  /** The ids of events of this partition that were discarded (ADR 39): whoever publishes one again, it has no effect. */
  readonly discarded?: readonly string[];
}

/** Another owner has advanced the partition: this one must look again before it goes on. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

/** The offsets of a service's database. */
export function offsetsOf(db: Db): Collection<ConsumerOffset> {
  return db.collection<ConsumerOffset>('consumer_offsets');
}

/** What a majority knows of a partition's position. */
export function findOffset(offsets: Collection<ConsumerOffset>, id: string): Promise<ConsumerOffset | null> {
  return offsets.findOne({ _id: id }, { readConcern: { level: 'majority' } });
}

/** Notes where a partition begins that was never consumed before; gives what stands, be it another's. */
export async function beginOffset(
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

/** Notes that Kafka's log ended before what comes next. */
export async function noteCut(
  offsets: Collection<ConsumerOffset>,
  {
    id,
    next,
    ...cut
  }: { readonly id: string; readonly next: bigint; readonly cutAt: bigint; readonly cutSeenAt: Date },
): Promise<void> {
  await offsets.updateOne({ _id: id, next, cutAt: { $exists: false } }, { $set: cut });
}

/** Forgets that it did, now that what was there is there again. */
export async function forgetCut(
  offsets: Collection<ConsumerOffset>,
  { id, next }: { readonly id: string; readonly next: bigint },
): Promise<void> {
  await offsets.updateOne({ _id: id, next }, { $unset: { cutAt: '', cutSeenAt: '' } });
}

/** Forgets what an operator has accepted, now that the group has committed where it goes on. */
export async function forgetAccepted(
  offsets: Collection<ConsumerOffset>,
  { id, next }: { readonly id: string; readonly next: bigint },
): Promise<void> {
  await offsets.updateOne({ _id: id, next }, { $unset: { acceptedCommitted: '' } });
}

/** Notes that an event of a partition never has an effect, however often it comes. */
export async function noteDiscarded(
  offsets: Collection<ConsumerOffset>,
  { id, eventId }: { readonly id: string; readonly eventId: string },
  session: ClientSession,
): Promise<void> {
  await offsets.updateOne({ _id: id }, { $addToSet: { discarded: eventId } }, { session });
}

/**
 * Moves the offset within the transaction of the effects: it removes duplicates and fences zombies in one write. Gives the
 * ids of the events that were discarded: who discards one writes here too, so no chunk misses it.
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
