import type { EachBatchPayload } from '@pesewa/kafka';
import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import { isTransient, type ParkedRow } from './chunk.ts';
import { FencedError } from './offsets.ts';
import type { PartitionWorker } from './partition.ts';
import type { Opening } from './partition-opening.ts';
import type { StoppedPartitions } from './stopped-partitions.ts';

/** What consuming a batch needs. */
export interface BatchDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly chunkMessagesMax: number;
  readonly applied: (topic: string, messages: number) => void;
  readonly stopped: StoppedPartitions;
}

/** A partition in our hands, from its assignment on. */
export interface Held extends Opening {
  readonly lost: AbortController;
  /** Of the partition, not of its worker: one that was stopped for it looks again, and parks no more than before. */
  readonly row: ParkedRow;
  worker: PartitionWorker | undefined;
  /** Whether it is stopped for its position: then opening it is what lets it go on, and else what is applied. */
  isMisfit: boolean;
}

/** The consumer is stopping, or its partition is somebody else's: nothing more is to be done with it. */
export class LostPartitionError extends Error {
  override readonly name = 'LostPartitionError';
}

/** The pauses between the tries of what passes. */
export const RETRY_PAUSE_MS = { first: 100, last: 5_000 } as const;
const HEARTBEAT_PAUSE_MS = 500;
const CHUNKS_UNSENT_MAX = 4;

/** Applies a batch in chunks; resolves once what they emit has arrived. */
export async function consumeBatch(
  deps: BatchDeps,
  held: Held,
  worker: PartitionWorker,
  payload: EachBatchPayload,
): Promise<void> {
  const { batch } = payload;
  const unsent: Promise<void>[] = [];
  await payload.heartbeat();
  const goesOn = () => payload.isRunning() && !payload.isStale() && !held.lost.signal.aborted;
  for (let start = 0; start < batch.messages.length && goesOn(); ) {
    const end = start + deps.chunkMessagesMax;
    const chunk = batch.messages.slice(start, end);
    const following = batch.messages.slice(end, end + deps.chunkMessagesMax);
    const { sent } = await persist(deps, held, payload, () => worker.apply(chunk, following));
    // Awaited below; what is dropped meanwhile is noticed there.
    sent.catch(() => undefined);
    unsent.push(sent);
    deps.applied(batch.topic, chunk.length);
    // What comes next was what stopped it, if anything did.
    deps.stopped.delete(held.place);
    if (unsent.length >= CHUNKS_UNSENT_MAX) await withHeartbeats(deps.clock, held, payload, unsent.shift());
    const last = chunk.at(-1);
    if (last) payload.resolveOffset(last.offset);
    await payload.heartbeat();
    start = end;
  }
  await withHeartbeats(deps.clock, held, payload, Promise.all(unsent));
}

/** Waits for Kafka without losing the membership meanwhile; a rebalance ends the waiting. */
async function withHeartbeats(
  clock: Clock,
  { lost }: Pick<Held, 'lost'>,
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

/** Retries a transient fault in place for as long as the partition is ours, with a heartbeat between the tries. */
async function persist<Value>(
  deps: BatchDeps,
  { lost }: Pick<Held, 'lost'>,
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
