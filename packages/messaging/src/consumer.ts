import { topics } from '@pesewa/contracts';
import type { Health } from '@pesewa/runtime';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { isTransient, mustStop } from './chunk.ts';
import {
  createPartitionWorker,
  messagesFrom,
  OffsetGapError,
  type PartitionDeps,
  type PartitionWorker,
  partitionSource,
  sendLeftovers,
} from './partition.ts';
import type { TopicHandler } from './received.ts';

const RETRY_DELAY_MS = { first: 100, last: 5_000 } as const;
const CHUNKS_UNSENT_MAX = 4;
/** Several chunks of every partition: kafkajs fetches no more before all that it fetched is dealt with. */
const PARTITION_FETCH_BYTES_MAX = 1_048_576;
const FETCH_BYTES_MAX = 8 * PARTITION_FETCH_BYTES_MAX;

/** The running consumer of a service. */
export interface RunningConsumer extends AsyncDisposable {}

/** Options of {@link runConsumer}. */
export interface ConsumerOptions extends PartitionDeps {
  readonly kafka: Kafka;
  readonly handlers: readonly TopicHandler[];
  readonly chunkMessagesMax: number;
  readonly sessionTimeoutMs: number;
  readonly health: Health;
  readonly abort: (error: Error) => void;
  readonly applied: (topic: string, messages: number) => void;
}

/**
 * Consumes a service's topics: chunks in one transaction each, offsets in MongoDB, parking for what can't be applied.
 *
 * The settings answer the defects of kafkajs 2.2.4 (research/kafka-mongo 1.2): a crash that kafkajs would not mend
 * ends the process.
 */
export async function runConsumer(options: ConsumerOptions): Promise<RunningConsumer> {
  const byTopic = new Map(
    options.handlers.map((handler) => [options.topicPrefix + topics[handler.topic].name, handler]),
  );
  const workers = new Map<string, PartitionWorker>();
  const consumer = options.kafka.consumer({
    groupId: options.topicPrefix + options.group,
    allowAutoTopicCreation: false,
    sessionTimeout: options.sessionTimeoutMs,
    heartbeatInterval: options.sessionTimeoutMs / 10,
    rebalanceTimeout: 60_000,
    minBytes: 1,
    maxBytes: FETCH_BYTES_MAX,
    maxBytesPerPartition: PARTITION_FETCH_BYTES_MAX,
    maxWaitTimeInMs: 100,
    readUncommitted: false,
    metadataMaxAge: 60_000,
    retry: { initialRetryTime: 200, maxRetryTime: 5_000, retries: 20 },
  });
  watch(consumer, options, (assigned) => {
    workers.clear();
    takeOverLeftovers(options, byTopic, assigned);
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [...byTopic.keys()], fromBeginning: true });
  await consumer.run({
    autoCommit: true,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: 8,
    eachBatch: async (payload) => {
      const handler = byTopic.get(payload.batch.topic);
      if (!handler) throw new Error(`no handler for ${payload.batch.topic}`);
      await consumeBatch(options, workers, handler, payload).catch((error: unknown) => {
        // Whatever failed: the next try loads the offset anew and first sends what this one committed and did not send.
        workers.delete(`${payload.batch.topic}/${payload.batch.partition}`);
        if (!mustStop(error)) options.abort(error instanceof Error ? error : new Error('consumer failed'));
        throw error;
      });
    },
  });
  return {
    [Symbol.asyncDispose]: async () => {
      await consumer.stop();
      await consumer.disconnect();
    },
  };
}

type Assignment = Readonly<Record<string, readonly number[]>>;

/**
 * Sends what earlier owners of our partitions left, even where no further message ever comes; a batch that does come
 * looks again before it applies anything.
 */
function takeOverLeftovers(
  options: ConsumerOptions,
  byTopic: ReadonlyMap<string, TopicHandler>,
  assigned: Assignment,
): void {
  for (const [topic, partitions] of Object.entries(assigned)) {
    const handler = byTopic.get(topic);
    for (const partition of handler ? partitions : []) {
      if (!handler) continue;
      sendLeftovers(options, partitionSource(options, handler, partition)).catch((error: unknown) => {
        options.logger.warn(
          { err: error, topic, partition },
          'leftovers stay in the outbox for the next batch',
        );
      });
    }
  }
}

function watch(consumer: Consumer, options: ConsumerOptions, rejoined: (assigned: Assignment) => void): void {
  let joined = false;
  let lastSignOfLifeMs = options.clock.nowMs();
  const alive = () => {
    lastSignOfLifeMs = options.clock.nowMs();
  };
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    joined = true;
    rejoined(payload.memberAssignment);
    alive();
  });
  consumer.on(consumer.events.FETCH, alive);
  consumer.on(consumer.events.END_BATCH_PROCESS, alive);
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    joined = false;
    if (!payload.restart) options.abort(payload.error);
  });
  options.health.addReadiness(`consumer ${options.group}`, () => {
    if (!joined) throw new Error('not joined its group');
  });
  options.health.addLiveness(`consumer ${options.group}`, () => {
    if (joined && options.clock.nowMs() - lastSignOfLifeMs > 2 * options.sessionTimeoutMs)
      throw new Error('stalled');
  });
}

async function consumeBatch(
  options: ConsumerOptions,
  workers: Map<string, PartitionWorker>,
  handler: TopicHandler,
  payload: EachBatchPayload,
): Promise<void> {
  const { batch, heartbeat } = payload;
  await heartbeat();
  const [first] = batch.messages;
  if (!first) return;
  const id = `${batch.topic}/${batch.partition}`;
  let worker = workers.get(id);
  if (!worker) {
    worker = createPartitionWorker(options, handler, batch.partition);
    await persist(options, payload, () => workerTakesOver(worker, first.offset));
    workers.set(id, worker);
  }
  refuseGap(handler, worker, first.offset, id);
  const unsent: Promise<void>[] = [];
  for (let start = 0; start < batch.messages.length && payload.isRunning() && !payload.isStale(); ) {
    const slice = batch.messages.slice(start, start + options.chunkMessagesMax);
    const chunk = messagesFrom(worker.next() ?? 0n, slice);
    start += slice.length;
    if (chunk.length > 0) {
      const following = batch.messages.slice(start, start + options.chunkMessagesMax);
      const { sent } = await persist(options, payload, () => worker.apply(chunk, following));
      options.applied(batch.topic, chunk.length);
      unsent.push(arrival(options, payload, partitionSource(options, handler, batch.partition), sent));
      if (unsent.length >= CHUNKS_UNSENT_MAX) await unsent.shift();
    }
    const last = slice.at(-1);
    if (last) payload.resolveOffset(last.offset);
    await heartbeat();
  }
  await Promise.all(unsent);
}

/** When a chunk's events have reached Kafka; what it refuses is sent again, in place, until it takes it. */
function arrival(
  options: ConsumerOptions,
  payload: EachBatchPayload,
  source: string,
  sent: Promise<void>,
): Promise<void> {
  const arrived = sent.catch(() => persist(options, payload, () => sendLeftovers(options, source)));
  // Awaited later, by whoever has too much on the way; a rebalance in between is told there.
  arrived.catch(() => undefined);
  return arrived;
}

async function workerTakesOver(worker: PartitionWorker | undefined, first: string): Promise<void> {
  await worker?.takeOver(BigInt(first));
}

function refuseGap(handler: TopicHandler, worker: PartitionWorker, first: string, id: string): void {
  const next = worker.next();
  if (next === undefined || topics[handler.topic].cleanup === 'compact' || BigInt(first) <= next) return;
  throw new OffsetGapError(
    `${id}: Kafka starts at ${first}, but ${next} was to come next; messages are lost`,
  );
}

/** Retries a transient fault in place for as long as the partition is ours, with a heartbeat between the tries. */
async function persist<Value>(
  options: ConsumerOptions,
  payload: EachBatchPayload,
  work: () => Promise<Value>,
): Promise<Value> {
  let delayMs: number = RETRY_DELAY_MS.first;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || !payload.isRunning()) throw error;
      options.logger.warn(
        { err: error, topic: payload.batch.topic, partition: payload.batch.partition },
        'retrying in place',
      );
      await options.clock.sleep(delayMs);
      delayMs = Math.min(delayMs * 2, RETRY_DELAY_MS.last);
      await payload.heartbeat();
    }
  }
}
