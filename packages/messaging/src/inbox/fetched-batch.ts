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

/** Messages as kafkajs hands them over. */
export interface FetchedBatch extends EachBatchPayload {
  /** Says that the work moves; a heartbeat does not say so. */
  readonly progressed: () => void;
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
  payload: FetchedBatch,
): Promise<void> {
  await payload.heartbeat();
  const heartbeats = startHeartbeats(deps.clock, held, payload);
  try {
    await applyAll(deps, held, worker, payload, heartbeats);
  } finally {
    heartbeats.stop();
  }
}

async function applyAll(
  deps: FetchedBatchDeps,
  held: OwnedPartition,
  worker: PartitionWorker,
  payload: FetchedBatch,
  heartbeats: Heartbeats,
): Promise<void> {
  const { batch } = payload;
  const unsent: { readonly sent: Promise<void>; readonly lastOffset: string | undefined }[] = [];
  const resolveFirst = async () => {
    const first = unsent.shift();
    if (!first) return;
    await heartbeats.whileSending(first.sent);
    if (first.lastOffset !== undefined) payload.resolveOffset(first.lastOffset);
  };
  const mayContinue = () => payload.isRunning() && !payload.isStale() && !held.lost.signal.aborted;
  for (let start = 0; start < batch.messages.length && mayContinue(); ) {
    const end = start + deps.batchMessagesMax;
    const messages = batch.messages.slice(start, end);
    const following = batch.messages.slice(end, end + deps.batchMessagesMax);
    const work = () => worker.apply(messages, following);
    const { sent } = await applyWithRetries(deps, held, payload, heartbeats, work);
    // Awaited below; this only keeps the rejection of a dropped promise from being unhandled.
    sent.catch(() => undefined);
    unsent.push({ sent, lastOffset: messages.at(-1)?.offset });
    deps.applied(batch.topic, messages.length);
    // A batch was applied, so whatever had stopped the partition is over.
    deps.stopped.delete(held.place);
    payload.progressed();
    if (unsent.length >= BATCHES_UNSENT_MAX) await resolveFirst();
    heartbeats.check();
    start = end;
  }
  while (unsent.length > 0) await resolveFirst();
}

/** The heartbeats of a batch in progress. */
type Heartbeats = ReturnType<typeof startHeartbeats>;

/**
 * Keeps our place in the group for as long as a batch is worked on: the database may take longer than a session. A
 * heartbeat that fails does not end a transaction in progress, and is followed by others: while a group rebalances,
 * refused heartbeats too renew the session.
 */
function startHeartbeats(clock: Clock, { lost }: Pick<OwnedPartition, 'lost'>, payload: FetchedBatch) {
  const stopped = new AbortController();
  const ended = Promise.withResolvers<never>();
  let failure: { readonly error: unknown } | undefined;
  let isSending = false;

  const fail = (error: unknown) => {
    failure ??= { error };
    ended.reject(error);
  };

  async function beat(): Promise<void> {
    const wake = AbortSignal.any([stopped.signal, lost.signal]);
    for (;;) {
      await clock.sleep(HEARTBEAT_PAUSE_MS, wake);
      if (stopped.signal.aborted) return;
      // A process that closes sends what it has applied, unless Kafka lets it wait.
      if (lost.signal.aborted || (isSending && !payload.isRunning())) return fail(lostPartition());
      if (isSending) payload.progressed();
      await payload.heartbeat().catch(fail);
    }
  }

  beat().catch(fail);
  // Whoever waits is told.
  ended.promise.catch(() => undefined);
  return {
    /** Throws what the last heartbeat failed with: our place in the group is not ours any more. */
    check: () => {
      if (failure) throw failure.error;
    },
    /** Waits until Kafka has events, however long that takes: it counts as progress. Rejects once {@link check} throws. */
    whileSending: async (sent: Promise<void>) => {
      isSending = true;
      await Promise.race([sent, ended.promise]);
      isSending = false;
    },
    stop: () => stopped.abort(),
  };
}

/** Retries a transient fault in place for as long as the partition is ours. */
async function applyWithRetries<Value>(
  deps: FetchedBatchDeps,
  { lost }: Pick<OwnedPartition, 'lost'>,
  payload: FetchedBatch,
  heartbeats: Heartbeats,
  work: () => Promise<Value>,
): Promise<Value> {
  let pauseMs: number = RETRY_PAUSE_MS.first;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof FencedError || !isTransient(error)) throw error;
      if (lost.signal.aborted || !payload.isRunning()) throw lostPartition();
      const { topic, partition } = payload.batch;
      deps.logger.warn({ err: error, topic, partition }, 'retrying in place');
      await deps.clock.sleep(pauseMs);
      pauseMs = Math.min(pauseMs * 2, RETRY_PAUSE_MS.last);
      heartbeats.check();
      payload.progressed();
    }
  }
}

const lostPartition = () => new LostPartitionError('the partition is not to be gone on with');
