import { type TopicName, topics } from '@pesewa/contracts';
import { openCodec } from '@pesewa/messaging';
import { eventually } from './eventually.ts';
import { createTestKafka, type TestConfig } from './scope.ts';

/** A message of a topic, decoded. */
export interface ReadMessage {
  readonly partition: number;
  readonly offset: bigint;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A topic read to its end. */
export type TopicReader = (topic: string) => Promise<readonly ReadMessage[]>;

/** Reads whole topics, from their beginning to their present end, without using a consumer group. */
export async function createTopicReader(
  config: Pick<TestConfig, 'KAFKA_BROKERS' | 'SCHEMA_REGISTRY_URL' | 'TOPIC_PREFIX'>,
): Promise<TopicReader> {
  const codec = await openCodec({
    registryUrl: config.SCHEMA_REGISTRY_URL,
    topicPrefix: config.TOPIC_PREFIX,
    produces: [],
  });
  return async (topic) => {
    const awaited = await eventually(() => endsOf(config, topic));
    const read: ReadMessage[] = [];
    if (awaited.size > 0) {
      const consumer = createTestKafka(config).consumer({
        groupId: `reader-${crypto.randomUUID()}`,
        maxWaitTimeInMs: 100,
      });
      const done = Promise.withResolvers<void>();
      await consumer.connect();
      await consumer.subscribe({ topics: [topic], fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachMessage: async ({ partition, message }) => {
          const { type, payload } = await codec.decode(message.value ?? Buffer.alloc(0));
          const headers = Object.fromEntries(
            Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]),
          );
          const offset = BigInt(message.offset);
          read.push({
            partition,
            offset,
            key: String(message.key),
            headers,
            type,
            payload: payload as ReadMessage['payload'],
          });
          if (offset + 1n >= (awaited.get(partition) ?? 0n)) awaited.delete(partition);
          if (awaited.size === 0) done.resolve();
        },
      });
      await done.promise;
      await consumer.disconnect();
    }
    return read;
  };
}

/**
 * The present end of each partition of a topic that has messages. It throws while a partition's leader
 * changes: kafkajs does not ask again then, and a client that asks again goes by what it knew before.
 */
async function endsOf(
  config: Pick<TestConfig, 'KAFKA_BROKERS'>,
  topic: string,
): Promise<Map<number, bigint>> {
  const admin = createTestKafka(config).admin();
  try {
    await admin.connect();
    const ends = await admin.fetchTopicOffsets(topic);
    return new Map(
      ends.filter(({ low, high }) => low !== high).map(({ partition, high }) => [partition, BigInt(high)]),
    );
  } finally {
    await admin.disconnect();
  }
}

/** The full name of a topic under a test's prefix. */
export function topicNameOf(config: Pick<TestConfig, 'TOPIC_PREFIX'>, name: TopicName): string {
  return config.TOPIC_PREFIX + topics[name].name;
}
