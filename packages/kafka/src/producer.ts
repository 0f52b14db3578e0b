import type { Clock } from '@pesewa/kernel';
import { openBrokers } from './brokers.ts';
import type { KafkaLog, KafkaOptions } from './client.ts';
import {
  createPartitioner,
  createPartitionQueues,
  type Entry,
  type PartitionQueue,
  type PartitionQueues,
} from './partition-queues.ts';
import { kafkaRemedy } from './security.ts';
import { type PartitionAnswer, produceRequest } from './wire.ts';

/** A message whose record is encoded: key, value and headers as a batch of Kafka stores them. */
export interface EncodedRecord {
  readonly topic: string;
  readonly key: string;
  readonly body: Buffer;
}

/** Records produced together; done when each partition that they go to has answered. */
export interface ProduceBatch {
  /** The source keeps its order, and if Kafka refuses a batch only its source waits. */
  readonly source: string;
  readonly records: readonly EncodedRecord[];
}

/** The batch was dropped before Kafka had all of it, because another process owns its source now. */
export class SourceFencedError extends Error {
  override readonly name = 'SourceFencedError';
}

/**
 * Writes to Kafka: one request in flight per broker, each partition in the order of the calls, retrying without end.
 *
 * It is not idempotent in Kafka's sense, because consumers drop duplicate events anyway.
 */
export interface Producer extends AsyncDisposable {
  /** Resolves when every in-sync replica of every partition has its records; rejects only with {@link SourceFencedError}. */
  readonly produce: (batch: ProduceBatch) => Promise<void>;
  /** Drops the waiting records of a source, and waits for the answers to those in flight. */
  readonly drop: (source: string) => Promise<void>;
}

/** The leader of a partition; a negative broker id means that it has none. */
export interface Leader {
  readonly topic: string;
  readonly partition: number;
  readonly broker: number;
}

/** The connections to the brokers, as the producer needs them. */
export interface ProducerBrokers {
  readonly leaders: (topics: readonly string[]) => Promise<readonly Leader[]>;
  readonly write: (broker: number, queues: readonly PartitionQueue[]) => Promise<readonly PartitionAnswer[]>;
  /** Forgets a connection that did not answer. */
  readonly drop: (broker: number) => void;
}

const SAID_AGAIN_AFTER_TRIES = 20;

/** Options of a producer. */
export interface ProducerOptions {
  /** A {@link steady} one, or events would wait after the wall clock was set back. */
  readonly clock: Clock;
  readonly log: KafkaLog;
  /** How many partitions a topic has for ever; it decides the partition of a key. */
  readonly partitionsOf: (topic: string) => number;
  /** Asked right before each attempt: whether this process may still send records of the source. */
  readonly maySend?: (source: string) => boolean;
}

/** How long in-sync replicas may take, and how long a request may take in total. */
const REPLICATION_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;

/** Opens a producer; it connects when there is something to send. */
export function openProducer(options: ProducerOptions & KafkaOptions): Producer {
  const nodes = openBrokers(options);
  const log: KafkaLog = (level, message, fields) => {
    const reason = fields['err'] instanceof Error ? fields['err'].message : '';
    options.log(level, message, { ...fields, remedy: kafkaRemedy(reason, options) });
  };
  const producer = createProducer(
    {
      leaders: async (topics) => {
        const metadata = await nodes.metadata(topics);
        return metadata.topics.flatMap(({ name, partitions }) =>
          partitions.map(({ partition, leader }) => ({ topic: name, partition, broker: leader })),
        );
      },
      write: async (broker, queues) => {
        const node = await nodes.byId(broker);
        const topics = queues.map(({ topic, partition, inFlight }) => ({
          topic,
          partitions: [{ partition, bodies: inFlight.flatMap(({ bodies }) => bodies) }],
        }));
        const input = { acks: -1, timeoutMs: REPLICATION_TIMEOUT_MS, topics };
        return node.connectionPool.send(produceRequest(input, REQUEST_TIMEOUT_MS));
      },
      drop: nodes.drop,
    },
    { ...options, log },
  );
  return {
    ...producer,
    [Symbol.asyncDispose]: async () => {
      await producer[Symbol.asyncDispose]();
      await nodes[Symbol.asyncDispose]();
    },
  };
}

/** Builds a producer over connections to the brokers. */
export function createProducer(nodes: ProducerBrokers, options: ProducerOptions): Producer {
  const { clock, log, partitionsOf, maySend = () => true } = options;
  const partitionOf = createPartitioner();
  const queues = createPartitionQueues();
  const closing = new AbortController();
  const leaders = createLeaders({
    ask: nodes.leaders,
    topics: queues.topics,
    waiting: () => queues.waiting(clock.nowMs()),
    learned: pump,
    clock,
    log,
    closing: closing.signal,
  });
  const write = createWriter(nodes, queues, { clock, log });
  const busy = new Set<number>();
  let wake = new AbortController();

  function pump(): void {
    if (closing.signal.aborted) return;
    const nowMs = clock.nowMs();
    const byBroker = Map.groupBy(queues.waiting(nowMs), leaders.of);
    for (const [broker, ready] of byBroker) {
      if (broker === undefined) void leaders.refresh();
      else if (!busy.has(broker)) {
        const taken = queues.take(ready, maySend, nowMs);
        if (taken.length > 0) void send(broker, taken);
      }
    }
    void waitForNext(nowMs);
  }

  async function send(broker: number, taken: readonly PartitionQueue[]): Promise<void> {
    busy.add(broker);
    const isWritten = await write(broker, taken);
    busy.delete(broker);
    if (!isWritten) await leaders.refresh();
    pump();
  }

  /** Waits until a queue's pause ends, or a source that may not send must be checked again. */
  async function waitForNext(nowMs: number): Promise<void> {
    wake.abort();
    const isBusy = (queue: PartitionQueue) => busy.has(leaders.of(queue) ?? -1);
    const next = queues.nextAtMs(nowMs, isBusy);
    if (next === undefined) return;
    const mine = new AbortController();
    wake = mine;
    await clock.sleep(Math.max(1, next - nowMs), mine.signal);
    if (!mine.signal.aborted) pump();
  }

  return {
    produce: ({ source, records }) => {
      const entry: Entry = { source, pieces: 0, dropped: false, done: Promise.withResolvers<void>() };
      for (const { topic, key, body } of records)
        queues.add(entry, topic, partitionOf(topic, key, partitionsOf(topic)), body);
      if (entry.pieces === 0) entry.done.resolve();
      pump();
      return entry.done.promise;
    },
    drop: (source) => drop(queues, source),
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      wake.abort();
    },
  };
}

/** Writes to one broker and handles each partition's answer; gives whether each was written or permanently refused. */
function createWriter(
  nodes: ProducerBrokers,
  queues: PartitionQueues,
  { clock, log }: Pick<ProducerOptions, 'clock' | 'log'>,
): (broker: number, taken: readonly PartitionQueue[]) => Promise<boolean> {
  return async (broker, taken) => {
    let failure: unknown;
    const written = await nodes.write(broker, taken).catch((error: unknown): readonly PartitionAnswer[] => {
      failure = error;
      nodes.drop(broker);
      return [];
    });
    const codes = new Map(
      written.map(({ topic, partition, errorCode }) => [`${topic}/${partition}`, errorCode]),
    );
    let isAnswered = true;
    for (const queue of taken) {
      // A partition that is missing in the answer has no answer.
      const errorCode = codes.get(queue.id);
      const outcome = queues.acknowledge(queue, errorCode, clock.nowMs());
      const { topic, partition, tries } = queue;
      const fields = { err: failure, topic, partition, broker, errorCode, tries };
      if (outcome === 'failed') {
        isAnswered = false;
        if (tries % SAID_AGAIN_AFTER_TRIES === 1)
          log('warn', 'Kafka has not taken events, trying again', fields);
      } else if (outcome === 'refused') log('error', 'Kafka refuses events', fields);
    }
    return isAnswered;
  };
}

async function drop(queues: PartitionQueues, source: string): Promise<void> {
  const entries = queues.withdraw(source);
  await queues.untilAnswered(source);
  for (const { done } of entries) {
    // The caller may have stopped waiting.
    done.promise.catch(() => undefined);
    done.reject(new SourceFencedError(`what ${source} had to send is not its own any more`));
  }
}

const LEADER_PAUSE_MS = { first: 50, last: 2_000 } as const;

/** Follows the leaders of partitions by Kafka's answers; `learned` is called after every one. */
function createLeaders(options: {
  readonly ask: (topics: readonly string[]) => Promise<readonly Leader[]>;
  readonly topics: () => readonly string[];
  readonly waiting: () => readonly { readonly id: string }[];
  readonly learned: () => void;
  readonly clock: Clock;
  readonly log: KafkaLog;
  readonly closing: AbortSignal;
}) {
  const { clock, closing, log } = options;
  const known = new Map<string, number>();
  let refreshing: Promise<void> | undefined;

  /** The broker that leads a partition; undefined if none is known. */
  const of = ({ id }: { readonly id: string }): number | undefined => {
    const broker = known.get(id) ?? -1;
    return broker < 0 ? undefined : broker;
  };

  async function learn(): Promise<void> {
    for (let pauseMs: number = LEADER_PAUSE_MS.first; !closing.aborted; pauseMs *= 2) {
      try {
        for (const { topic, partition, broker } of await options.ask(options.topics()))
          known.set(`${topic}/${partition}`, broker);
        if (options.waiting().every((queue) => of(queue) !== undefined)) return;
      } catch (error) {
        if (pauseMs === LEADER_PAUSE_MS.first)
          log('warn', 'Kafka does not say who leads its partitions', { err: error });
      }
      await clock.sleep(Math.min(pauseMs, LEADER_PAUSE_MS.last), closing);
      // Partitions with a leader must not wait for those without.
      options.learned();
    }
  }

  return {
    of,
    /** Asks Kafka until every queued partition has a leader; concurrent callers share the answer. */
    refresh: (): Promise<void> => {
      refreshing ??= learn().finally(() => {
        refreshing = undefined;
        options.learned();
      });
      return refreshing;
    },
  };
}
