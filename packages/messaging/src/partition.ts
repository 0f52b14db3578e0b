import { parkedTopic, topics } from '@pesewa/contracts';
import type { Clock, Ids } from '@pesewa/kernel';
import type { CrashPoint, Logger } from '@pesewa/runtime';
import type { KafkaMessage } from 'kafkajs';
import { Binary, type Collection, type MongoClient, MongoError } from 'mongodb';
import type { Codec } from './codec.ts';
import { advanceOffset, type ConsumerOffset, FencedError, loadOffset } from './offsets.ts';
import { type Bundle, bundleId, bundlesOf, type EncodedMessage, encodeEvent } from './outbox.ts';
import { type Reading, readMessages, type TopicHandler } from './received.ts';
import type { Relay } from './relay.ts';
import { transactionOptions } from './mongo.ts';

/** What the consumer of a service shares between its partitions. */
export interface PartitionDeps {
  readonly client: MongoClient;
  readonly offsets: Collection<ConsumerOffset>;
  readonly outbox: Collection<Bundle>;
  readonly relay: Relay;
  readonly codec: Codec;
  readonly group: string;
  readonly owner: string;
  readonly topicPrefix: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
  readonly parked: (topic: string) => void;
}

/** One partition in our hands: applies chunks in order, each in one transaction with the offset and the outbox. */
export interface PartitionWorker {
  /** Sends what an earlier owner committed but did not send, before anything new is applied. */
  readonly takeOver: (first: bigint) => Promise<void>;
  readonly next: () => bigint | undefined;
  /** Applies the messages up to and including the last; resolves with the promise of their events' arrival. */
  readonly apply: (messages: readonly KafkaMessage[]) => Promise<{ readonly sent: Promise<void> }>;
}

/** A gap between what we applied and what Kafka still has: messages are lost to us, and someone must know. */
export class OffsetGapError extends Error {
  override readonly name = 'OffsetGapError';
}

/** Builds the worker of one partition. */
export function createPartitionWorker(deps: PartitionDeps, handler: TopicHandler, partition: number): PartitionWorker {
  const topicName = deps.topicPrefix + topics[handler.topic].name;
  const source = `${deps.group}/${topicName}/${partition}`;
  let next: bigint | undefined;

  async function drainOutbox(): Promise<void> {
    for await (const bundle of deps.outbox.find(bundlesOf(source)).sort({ _id: 1 })) {
      if (!deps.relay.holds(bundle._id)) await deps.relay.send(bundle);
    }
  }

  async function commit(readings: readonly Reading[], from: bigint, to: bigint): Promise<Bundle | undefined> {
    const parkedIds = new Map<string, string>();
    let actions: (() => void)[] = [];
    let bundle: Bundle | undefined;
    await deps.client.withSession((session) =>
      session.withTransaction(async () => {
        parkedIds.clear();
        actions = [];
        const messages: EncodedMessage[] = [];
        await advanceOffset(deps.offsets, { id: source, from, to, owner: deps.owner }, session);
        const events = readings.flatMap((reading) => (reading.kind === 'event' ? [reading.event] : []));
        if (events.length > 0) {
          await handler.handle(events, {
            session,
            partition,
            emit: (event) => void messages.push(encodeEvent(deps.codec, deps.topicPrefix, event)),
            afterCommit: (action) => void actions.push(action),
            park: (eventId, reason) => void parkedIds.set(eventId, reason),
          });
        }
        for (const reading of readings) {
          const reason = reading.kind === 'poison' ? reading.reason : parkedIds.get(reading.event.eventId);
          if (reason !== undefined) messages.push(parkedMessage(reading, reason));
        }
        bundle = messages.length === 0 ? undefined : { _id: bundleId(source, Number(to)), messages, createdAt: new Date(deps.clock.nowMs()) };
        if (bundle) await deps.outbox.insertOne(bundle, { session });
        deps.crashPoint(`${deps.group}.chunk.before-commit`);
      }, transactionOptions),
    );
    deps.crashPoint(`${deps.group}.chunk.after-commit`);
    for (const action of actions) action();
    return bundle;
  }

  function parkedMessage(reading: Reading, reason: string): EncodedMessage {
    const eventType = reading.kind === 'event' ? reading.event.type : reading.eventType;
    deps.parked(topicName);
    deps.logger.error({ topic: topicName, partition, offset: reading.offset.toString(), eventType, reason }, 'message parked');
    const eventId = deps.ids.next('ev');
    const topic = deps.topicPrefix + parkedTopic(deps.group).name;
    const type = 'pesewa.messaging.MessageParked';
    const value = deps.codec.encode(topic, type, {
      eventId,
      occurredAt: BigInt(deps.clock.nowMs()),
      consumerGroup: deps.group,
      topic: topicName,
      partition,
      offset: reading.offset,
      reason,
      eventType,
    });
    return {
      topic,
      key: reading.kind === 'event' ? reading.event.key : reading.key,
      value: new Binary(value),
      headers: { 'event-id': eventId, 'event-type': type, 'aggregate-version': '0' },
    };
  }

  /** Applies a chunk; one that can't be applied as a whole is applied one by one, and what still fails is parked. */
  async function applyChunk(readings: readonly Reading[], from: bigint, to: bigint): Promise<Bundle | undefined> {
    try {
      return await commit(readings, from, to);
    } catch (error) {
      if (error instanceof FencedError || isTransient(error)) throw error;
      const [only] = readings;
      if (readings.length !== 1 || only?.kind !== 'event') throw error;
      deps.logger.error({ err: error, topic: topicName, partition, offset: only.offset.toString() }, 'handler failed');
      const reason = `the handler failed: ${error instanceof Error ? error.name : 'unknown'}`;
      const { offset, event } = only;
      return commit([{ kind: 'poison', offset, reason, eventType: event.type, key: event.key }], from, to);
    }
  }

  return {
    next: () => next,
    takeOver: async (first) => {
      next = await loadOffset(deps.offsets, source, first, deps.owner);
      await drainOutbox();
    },
    apply: async (messages) => {
      const from = next;
      const last = messages.at(-1);
      if (from === undefined || !last) return { sent: Promise.resolve() };
      const readings = await readMessages(messages, handler, deps.codec);
      const to = BigInt(last.offset) + 1n;
      try {
        const bundle = await applyChunk(readings, from, to);
        next = to;
        return { sent: bundle ? deps.relay.send(bundle) : Promise.resolve() };
      } catch (error) {
        if (error instanceof FencedError || isTransient(error) || messages.length === 1) throw error;
        const sent: Promise<void>[] = [];
        for (const message of messages) {
          const single = await readMessages([message], handler, deps.codec);
          const until = BigInt(message.offset) + 1n;
          const bundle = await applyChunk(single, next ?? from, until);
          next = until;
          if (bundle) sent.push(deps.relay.send(bundle));
        }
        return { sent: Promise.all(sent).then(() => undefined) };
      }
    },
  };
}

/** Faults of the connection or the cluster: they pass, so the chunk is retried in place. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof MongoError)) return error instanceof Error && error.name.startsWith('Kafka');
  return (
    error.hasErrorLabel('TransientTransactionError') ||
    error.hasErrorLabel('UnknownTransactionCommitResult') ||
    error.hasErrorLabel('RetryableWriteError') ||
    /Network|ServerSelection|WaitQueue|PoolCleared|Timeout/.test(error.name)
  );
}
