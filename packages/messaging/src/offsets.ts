import type { ClientSession, Collection, Db } from 'mongodb';

/** How far one consumer group has applied one partition: the truth that Kafka's own offset only hints at. */
export interface ConsumerOffset {
  /** `<group>/<topic>/<partition>` */
  readonly _id: string;
  readonly next: bigint;
  readonly owner: string;
}

/** Another owner has advanced the partition: this one must look again before it goes on. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

/** The offsets of a service's database. */
export function offsetsOf(db: Db): Collection<ConsumerOffset> {
  return db.collection<ConsumerOffset>('consumer_offsets');
}

/** The next offset to apply; a partition met for the first time starts at the first message that Kafka has. */
export async function loadOffset(
  offsets: Collection<ConsumerOffset>,
  id: string,
  first: bigint,
  owner: string,
): Promise<bigint> {
  const found = await offsets.findOneAndUpdate(
    { _id: id },
    { $setOnInsert: { next: first, owner } },
    { upsert: true, returnDocument: 'after', readConcern: { level: 'majority' } },
  );
  return found?.next ?? first;
}

/** Moves the offset within the transaction of the effects: it removes duplicates and fences zombies in one write. */
export async function advanceOffset(
  offsets: Collection<ConsumerOffset>,
  move: { readonly id: string; readonly from: bigint; readonly to: bigint; readonly owner: string },
  session: ClientSession,
): Promise<void> {
  if (move.to <= move.from) throw new RangeError(`the offset of ${move.id} must not go back`);
  const moved = await offsets.updateOne(
    { _id: move.id, next: move.from },
    { $set: { next: move.to, owner: move.owner } },
    { session },
  );
  if (moved.matchedCount === 0) throw new FencedError(`another owner has advanced ${move.id}`);
}
