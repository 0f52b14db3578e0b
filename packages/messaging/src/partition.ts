import { topics } from '@pesewa/contracts';
import type { KafkaMessage } from 'kafkajs';
import { bundlesOf, type Outbox, unpackBundle } from './bundle.ts';
import { type ChunkDeps, createChunks, mustStop, type Sent } from './chunk.ts';
import type { Codec } from './codec.ts';
import { loadOffset } from './offsets.ts';
import { type Reading, readMessages, type TopicHandler } from './received.ts';
import type { Relay } from './relay.ts';

/** What the consumer of a service shares between its partitions. */
export interface PartitionDeps extends ChunkDeps {
  readonly codec: Codec;
  readonly outbox: Outbox;
  readonly relay: Relay;
}

/** One partition in our hands: applies chunks in order, each in one transaction with the offset and the outbox. */
export interface PartitionWorker {
  /** Sends what an earlier owner committed but did not send, before anything new is applied. */
  readonly takeOver: (first: bigint) => Promise<void>;
  readonly next: () => bigint | undefined;
  /**
   * Applies the messages up to and including the last; resolves with the promise of their events' arrival. Those that
   * follow are read while the database commits.
   */
  readonly apply: (messages: readonly KafkaMessage[], following?: readonly KafkaMessage[]) => Promise<Sent>;
}

/** A gap between what we applied and what Kafka still has: messages are lost to us, and someone must know. */
export class OffsetGapError extends Error {
  override readonly name = 'OffsetGapError';
}

/** Builds the worker of one partition. */
export function createPartitionWorker(
  deps: PartitionDeps,
  handler: TopicHandler,
  partition: number,
): PartitionWorker {
  const topicName = deps.topicPrefix + topics[handler.topic].name;
  const source = partitionSource(deps, handler, partition);
  const chunks = createChunks(deps, handler, { topicName, partition, source });
  const reader = createReader(handler, deps.codec);
  let next: bigint | undefined;

  return {
    next: () => next,
    takeOver: async (first) => {
      next = await loadOffset(deps.offsets, source, first, deps.owner);
      await sendLeftovers(deps, source);
    },
    apply: async (batch, following = []) => {
      // A retry hands over again what a part of the first try has committed already.
      const messages = next === undefined ? [] : messagesFrom(next, batch);
      const last = messages.at(-1);
      if (next === undefined || !last) return { sent: Promise.resolve() };
      const readings = await reader.read(messages);
      const to = BigInt(last.offset) + 1n;
      try {
        const committed = await chunks.commit(readings, next, to, () => reader.readAhead(following));
        next = to;
        return committed;
      } catch (error) {
        if (mustStop(error)) throw error;
      }
      // Something in the chunk can't be applied: one by one, so that it takes nothing else with it.
      const sent: Promise<void>[] = [];
      for (const message of messages) {
        const offset = BigInt(message.offset);
        const reading = readings.find((candidate) => candidate.offset === offset);
        const single = await chunks.commitSingly(reading, next, offset + 1n);
        next = offset + 1n;
        sent.push(single.sent);
      }
      return { sent: Promise.all(sent).then(() => undefined) };
    },
  };
}

/** Reads chunks; the next one may be read before it is asked for. */
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
      // What failed ahead of time is tried again when it is due.
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

/** The messages from an offset on; they come in the order of their offsets. */
export function messagesFrom(offset: bigint, messages: readonly KafkaMessage[]): readonly KafkaMessage[] {
  const first = messages.findIndex((message) => BigInt(message.offset) >= offset);
  return first === 0 ? messages : first === -1 ? [] : messages.slice(first);
}

/** What names a partition's offset and bundles: `<group>/<topic>/<partition>`. */
export function partitionSource(deps: PartitionDeps, handler: TopicHandler, partition: number): string {
  return `${deps.group}/${deps.topicPrefix}${topics[handler.topic].name}/${partition}`;
}

/** Sends, in order, what an earlier owner of a partition committed but did not send. */
export async function sendLeftovers(
  deps: Pick<PartitionDeps, 'outbox' | 'relay'>,
  source: string,
): Promise<void> {
  for await (const bundle of deps.outbox.find(bundlesOf(source)).sort({ _id: 1 })) {
    if (!deps.relay.holds(bundle._id)) await deps.relay.send(unpackBundle(bundle));
  }
}
