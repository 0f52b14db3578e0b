import type { EachBatchPayload } from '@pesewa/kafka';
import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import { type ConsecutiveParked, isTransient } from './batch.ts';
import { FencedError } from './offsets.ts';
import type { PartitionWorker } from './partition.ts';
import type { AssignedPartition } from './partition-opening.ts';
import type { StoppedPartitions } from './stopped-partitions.ts';

/** The dependencies of consuming a fetched batch. */
export interface FetchedBatchDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly batchMessagesMax: number;
  readonly applied: (topic: string, messages: number) => void;
  readonly stopped: StoppedPartitions;
}

/** A partition that this process owns, from its assignment on. */
export interface OwnedPartition extends AssignedPartition {
  readonly lost: AbortController;
  /**
   * Belongs to the partition, not to its worker: a partition stopped for too many parked messages is opened again,
   * and must not start counting anew.
   */
  readonly consecutiveParked: ConsecutiveParked;
  worker: PartitionWorker | undefined;
  /**
   * Whether it is stopped because its position does not fit. If so, opening it lets it go on; if not, applying a
   * message does.
   */
  hasMismatch: boolean;
}

/** The consumer is stopping, or its partition has another owner: its work ends here. */
export class LostPartitionError extends Error {
  override readonly name = 'LostPartitionError';
}

/** The pauses between the retries of transient faults. */
export const RETRY_PAUSE_MS = { first: 100, last: 5_000 } as const;
const HEARTBEAT_PAUSE_MS = 500;
const BATCHES_UNSENT_MAX = 4;

/**
 * Applies a fetched batch in batches of our own size; resolves once the events that they emit are in Kafka.
 *
 * An offset is resolved only then too: kafkajs commits what is resolved at any time, and other services take a
 * committed offset for proof that its effects are in Kafka.
 */
export async function consumeBatch(
  deps: FetchedBatchDeps,
  held: OwnedPartition,
  worker: PartitionWorker,
  payload: EachBatchPayload,
): Promise<void> {
  const { batch } = payload;
  const unsent: { readonly sent: Promise<void>; readonly lastOffset: string | undefined }[] = [];
  const resolveFirst = async () => {
    const first = unsent.shift();
    await withHeartbeats(deps.clock, held, payload, first?.sent);
    if (first?.lastOffset !== undefined) payload.resolveOffset(first.lastOffset);
  };
  await payload.heartbeat();
  const mayContinue = () => payload.isRunning() && !payload.isStale() && !held.lost.signal.aborted;
  for (let start = 0; start < batch.messages.length && mayContinue(); ) {
    const end = start + deps.batchMessagesMax;
    const messages = batch.messages.slice(start, end);
    const following = batch.messages.slice(end, end + deps.batchMessagesMax);
    const { sent } = await applyWithRetries(deps, held, payload, () => worker.apply(messages, following));
    // Awaited below; this only keeps the rejection of a dropped promise from being unhandled.
    sent.catch(() => undefined);
    unsent.push({ sent, lastOffset: messages.at(-1)?.offset });
    deps.applied(batch.topic, messages.length);
    // A batch was applied, so whatever had stopped the partition is over.
    deps.stopped.delete(held.place);
    if (unsent.length >= BATCHES_UNSENT_MAX) await resolveFirst();
    await payload.heartbeat();
    start = end;
  }
  while (unsent.length > 0) await resolveFirst();
}

/** Waits for Kafka while it keeps sending heartbeats; a rebalance ends the waiting. */
async function withHeartbeats(
  clock: Clock,
  { lost }: Pick<OwnedPartition, 'lost'>,
  payload: EachBatchPayload,
  sent: Promise<unknown> | undefined,
): Promise<void> {
  const arrived = Promise.resolve(sent).then(() => true);
  for (;;) {
    const tick = new AbortController();
    const done = await Promise.race([
      arrived,
      clock.sleep(HEARTBEAT_PAUSE_MS, AbortSignal.any([tick.signal, lost.signal])).then(() => false),
    ]);
    tick.abort();
    if (done) return;
    if (lost.signal.aborted || !payload.isRunning())
      throw new LostPartitionError('the partition is not to be gone on with');
    await payload.heartbeat();
  }
}

/** Retries a transient fault in place for as long as the partition is ours, with a heartbeat between the retries. */
async function applyWithRetries<Value>(
  deps: FetchedBatchDeps,
  { lost }: Pick<OwnedPartition, 'lost'>,
  payload: EachBatchPayload,
  work: () => Promise<Value>,
): Promise<Value> {
  let pauseMs: number = RETRY_PAUSE_MS.first;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof FencedError || !isTransient(error)) throw error;
      if (lost.signal.aborted || !payload.isRunning())
        throw new LostPartitionError('the partition is not to be gone on with');
      const { topic, partition } = payload.batch;
      deps.logger.warn({ err: error, topic, partition }, 'retrying in place');
      await deps.clock.sleep(pauseMs);
      pauseMs = Math.min(pauseMs * 2, RETRY_PAUSE_MS.last);
      await payload.heartbeat();
    }
  }
}
