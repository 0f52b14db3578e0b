import { topics } from '@pesewa/contracts';
import type { PartitionBounds, TopicPartition } from '@pesewa/kafka';
import { LATEST } from '../database/mongo.ts';
import { outboxRecordsOf, unpackOutboxRecord } from '../outbox/outbox.ts';
import {
  type ConsumerOffset,
  clearAcceptedCommit,
  clearTruncation,
  createOffset,
  findOffset,
  recordTruncation,
} from './offsets.ts';
import type { PartitionDeps } from './partition.ts';
import { checkPosition } from './position.ts';
import { PartitionStoppedError } from './stopped-partitions.ts';
import type { TopicHandler } from './topic-handler.ts';

/** What Kafka is asked while a partition is opened. */
export interface KafkaPartition {
  /** The partition's bounds at its assignment, for the first check. */
  readonly initialBounds: () => Promise<PartitionBounds | undefined>;
  readonly readBounds: () => Promise<PartitionBounds | undefined>;
  /** The offset of the first message written at or after a time, in milliseconds; undefined if there is none. */
  readonly offsetForTime: (timeMs: number) => Promise<bigint | undefined>;
  /** Commits, as the partition's owner, the offset at which its group goes on. */
  readonly commit: (next: bigint) => Promise<void>;
}

/** A partition being opened by the process that it was assigned to. */
export interface AssignedPartition {
  readonly place: TopicPartition;
  readonly handler: TopicHandler;
  readonly source: string;
  /** Aborted once the partition has another owner: from then on this process sends nothing of it. */
  readonly lost: Pick<AbortController, 'signal'>;
}

const LEFT_PAUSE_MS = 50;

/**
 * Makes a partition ready to be consumed: compares its position with Kafka's, and sends what an earlier owner committed
 * but did not send before anything new is applied, even if the partition is stopped. Gives the offset of the next message.
 *
 * Throws a {@link PartitionStoppedError} if only people can decide how to go on; any other error is transient.
 */
export async function openPartition(
  deps: PartitionDeps,
  opened: AssignedPartition,
  kafka: KafkaPartition,
): Promise<bigint> {
  const { place, handler, source, lost } = opened;
  const { partitions } = topics[handler.topic];
  const check = (stored: ConsumerOffset | null, bounds: PartitionBounds | undefined) => {
    if (!bounds) throw new Error(`Kafka does not say what ${place.topic}/${place.partition} holds`);
    const position = checkPosition({ group: deps.group, stored, bounds, partitions });
    return { stored, bounds, position };
  };
  const bounds = await kafka.initialBounds();
  let checked = check(await findOffset(deps.offsets, source), bounds);
  if (checked.position.kind === 'stopped') {
    const sinceMs = deps.clock.nowMs();
    checked = check(...(await readConsistently(deps, source, kafka)));
    if (
      checked.position.kind === 'stopped' &&
      checked.position.mismatch === 'log truncated' &&
      checked.stored
    )
      checked = check(
        await resolveTruncation(deps, checked.stored, { sinceMs, ...checked.bounds }, kafka),
        checked.bounds,
      );
  }
  const { stored, position } = checked;
  // Before people are waited for, and before the group commits anything here: a committed offset proves that the events
  // of all before it are in Kafka. So what a restored database has left was sent long ago.
  if (position.kind !== 'stopped' || position.mismatch !== 'restored')
    await sendUnsent(deps, source, lost.signal);
  if (position.kind === 'stopped') throw new PartitionStoppedError(position.reason, position.remedy);
  const { next } = position;
  await handler.beforePartition?.(place.partition);
  if (position.kind === 'begins') {
    const { topicId } = checked.bounds;
    const begun = await createOffset(deps.offsets, { _id: source, next, topicId, owner: deps.owner });
    // The stored offset may be beyond the bounds that Kafka gave, or of another topic.
    if (begun.owner !== deps.owner)
      throw new Error(`another owner begins ${source}: its position is read again`);
  } else if (stored?.acceptedCommitted !== undefined) await commitRealigned(deps, source, next, kafka);
  return next;
}

/** What the database and Kafka say at one moment. Rejects if an earlier owner is still advancing the partition. */
async function readConsistently(
  deps: PartitionDeps,
  source: string,
  kafka: KafkaPartition,
): Promise<readonly [ConsumerOffset | null, PartitionBounds | undefined]> {
  const before = await findOffset(deps.offsets, source);
  const bounds = await kafka.readBounds();
  const after = await findOffset(deps.offsets, source);
  if (before?.next !== after?.next || before?.topicId !== after?.topicId)
    throw new Error(`another owner advances ${source}: its position is read again`);
  return [after, bounds];
}

/**
 * Records that Kafka's log ends before our next offset, or removes that record. A new leader reports an end too low until
 * its followers have answered; in that case no message before our next offset was written since. Gives the offset as it
 * is stored then.
 */
async function resolveTruncation(
  { offsets }: PartitionDeps,
  stored: ConsumerOffset,
  { sinceMs, low, high }: Pick<PartitionBounds, 'low' | 'high'> & { readonly sinceMs: number },
  kafka: KafkaPartition,
): Promise<ConsumerOffset> {
  const { truncatedAt, truncationSeenAt, ...restored } = stored;
  const { _id: id, next } = stored;
  if (truncatedAt === undefined) {
    const truncation = { truncatedAt: high, truncationSeenAt: new Date(sinceMs) };
    await recordTruncation(offsets, { id, next, ...truncation });
    return { ...restored, ...truncation };
  }
  // Messages that were removed can't be checked, and neither can those that are not there yet.
  if (high < next || low > truncatedAt || truncationSeenAt === undefined) return stored;
  const written = await kafka.offsetForTime(truncationSeenAt.getTime());
  if (written !== undefined && written < next) return stored;
  await clearTruncation(offsets, { id, next });
  return restored;
}

/** Commits a realigned position to Kafka, so that Kafka shows it if the database is restored again later. */
async function commitRealigned(
  deps: PartitionDeps,
  source: string,
  next: bigint,
  kafka: KafkaPartition,
): Promise<void> {
  await kafka.commit(next);
  // A member that is leaving its group does not commit and reports no error.
  if ((await kafka.readBounds())?.committed !== next)
    throw new Error(`the group has not committed ${source} yet`);
  await clearAcceptedCommit(deps.offsets, { id: source, next });
}

/**
 * Sends, in order, what an earlier owner of a partition committed but did not send. After a position was set back, new
 * outbox records get the ids of earlier ones, so those must be gone first. Once the partition is lost, its new owner sends
 * them; given to our relay they would wait for ever.
 */
async function sendUnsent(deps: PartitionDeps, source: string, lost: AbortSignal): Promise<void> {
  const sends: Promise<void>[] = [];
  let areLeft = false;
  for await (const outboxRecord of deps.outbox.find(outboxRecordsOf(source), LATEST).sort({ _id: 1 })) {
    lost.throwIfAborted();
    areLeft = true;
    if (!deps.relay.isPending(outboxRecord._id))
      sends.push(deps.relay.send(unpackOutboxRecord(outboxRecord)));
  }
  await Promise.all(sends);
  while (areLeft) {
    lost.throwIfAborted();
    areLeft = (await deps.outbox.findOne(outboxRecordsOf(source), { projection: { _id: 1 } })) !== null;
    if (areLeft) await deps.clock.sleep(LEFT_PAUSE_MS);
  }
}
