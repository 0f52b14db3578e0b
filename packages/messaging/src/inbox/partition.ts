import { topics } from '@pesewa/contracts';
import type { KafkaMessage } from '@pesewa/kafka';
import { isTransactionExpired } from '../database/mongo.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Relay } from '../outbox/relay.ts';
import type { Codec } from '../schemas/codec.ts';
import {
  type BatchDeps,
  type ConsecutiveParked,
  createPartitionBatches,
  isFencedOrTransient,
  type Sent,
} from './batch.ts';
import { type Reading, readMessages, type TopicHandler } from './topic-handler.ts';

/** What the partitions of a service's consumer share. */
export interface PartitionDeps extends BatchDeps {
  readonly codec: Codec;
  readonly topicPrefix: string;
  readonly outbox: Outbox;
  readonly relay: Relay;
}

/** Applies the batches of one partition in order, each in one transaction with the offset and the outbox. */
export type PartitionWorker = ReturnType<typeof createPartitionWorker>;

/** Builds the worker of one partition, which starts at the offset `first`. */
export function createPartitionWorker(
  deps: PartitionDeps,
  handler: TopicHandler,
  partition: number,
  first: bigint,
  consecutiveParked: ConsecutiveParked = { count: 0 },
) {
  const topicName = deps.topicPrefix + topics[handler.topic].name;
  const source = partitionSource(deps, handler, partition);
  const batches = createPartitionBatches(deps, handler, { topicName, partition, source }, consecutiveParked);
  const reader = createReader(handler, deps.codec);
  let next = first;
  /** The arrival in Kafka of the events of all that was ever committed here, even if a later part of its batch failed. */
  let sent: Promise<void> = Promise.resolve();

  /** Splits a failing batch in halves until the message that can't be applied is alone; all others are committed. */
  async function commit(
    messages: readonly KafkaMessage[],
    readings: readonly Reading[],
    inBackground?: () => void,
  ): Promise<void> {
    const last = messages.at(-1);
    if (!last) return;
    const from = next;
    const to = BigInt(last.offset) + 1n;
    try {
      const committed = await (messages.length === 1
        ? batches.commitSingly(readings[0], from, to)
        : batches.commit(readings, from, to, inBackground));
      next = to;
      sent = Promise.all([sent, committed.sent]).then(() => undefined);
      // Whoever applies awaits it, or a later one; this only keeps an earlier rejection from being unhandled.
      sent.catch(() => undefined);
      return;
    } catch (error) {
      if (messages.length === 1 || (isFencedOrTransient(error) && !isTransactionExpired(error))) throw error;
    }
    const middle = messages.length >> 1;
    const border = BigInt(messages[middle]?.offset ?? last.offset);
    const before = readings.filter(({ offset }) => offset < border);
    const after = readings.filter(({ offset }) => offset >= border);
    await commit(messages.slice(0, middle), before);
    await commit(messages.slice(middle), after);
  }

  return {
    /** The offset of the next message to apply. */
    next: () => next,
    /**
     * Applies the messages; resolves once they are committed, with a promise for the arrival in Kafka of their events and
     * of all before them.
     * `following` is read while the database commits.
     */
    apply: async (batch: readonly KafkaMessage[], following: readonly KafkaMessage[] = []): Promise<Sent> => {
      // A retry may bring messages that the first attempt has committed already.
      const messages = messagesFrom(next, batch);
      if (messages.length > 0)
        await commit(messages, await reader.read(messages), () => reader.readAhead(following));
      return { sent };
    },
  };
}

/** Reads batches, and may read the next one ahead of time. */
function createReader(handler: TopicHandler, codec: Codec) {
  let ahead:
    | { readonly messages: readonly KafkaMessage[]; readonly readings: Promise<readonly Reading[]> }
    | undefined;
  const same = (messages: readonly KafkaMessage[]) =>
    ahead?.messages.length === messages.length && ahead.messages[0] === messages[0];
  return {
    read: (messages: readonly KafkaMessage[]): Promise<readonly Reading[]> => {
      const readings = same(messages) ? ahead?.readings : undefined;
      ahead = undefined;
      // If reading ahead failed, the batch is read again now.
      return (
        readings?.catch(() => readMessages(messages, handler, codec)) ??
        readMessages(messages, handler, codec)
      );
    },
    readAhead: (messages: readonly KafkaMessage[]): void => {
      if (messages.length === 0 || same(messages)) return;
      const readings = readMessages(messages, handler, codec);
      readings.catch(() => undefined);
      ahead = { messages, readings };
    },
  };
}

/** The messages from an offset on; they are sorted by offset. */
function messagesFrom(offset: bigint, messages: readonly KafkaMessage[]): readonly KafkaMessage[] {
  const first = messages.findIndex((message) => BigInt(message.offset) >= offset);
  return first === 0 ? messages : first === -1 ? [] : messages.slice(first);
}

/** The name of a partition's offset and of its outbox records' source: `<group>/<topic>/<partition>`. */
export function partitionSource(deps: PartitionDeps, handler: TopicHandler, partition: number): string {
  return `${deps.group}/${deps.topicPrefix}${topics[handler.topic].name}/${partition}`;
}
