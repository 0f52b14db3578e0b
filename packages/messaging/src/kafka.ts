// First: what it mends must be mended before kafkajs is loaded.
import './kafkajs-patches.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { parkedTopic, type Topic, topics } from '@pesewa/contracts';
import { type Admin, Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';

/** Where a Kafka client's own warnings and errors go. */
export type KafkaLog = (
  level: 'warn' | 'error',
  message: string,
  fields: Readonly<Record<string, unknown>>,
) => void;

/** A Kafka client of its own; consumers must not share one (research/kafka-mongo D16). */
export function createKafka(options: {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly log: KafkaLog;
}): Kafka {
  return new Kafka({
    clientId: options.clientId,
    brokers: [...options.brokers],
    connectionTimeout: 10_000,
    requestTimeout: 30_000,
    retry: { initialRetryTime: 200, maxRetryTime: 5_000, retries: 20 },
    logLevel: logLevel.WARN,
    logCreator:
      () =>
      ({ level, log, namespace }) =>
        options.log(level === logLevel.ERROR ? 'error' : 'warn', log.message, {
          kafka: namespace,
          reason: log['error'],
          group: log['groupId'],
        }),
  });
}

/**
 * A producer for single-flight use: not idempotent, because kafkajs's idempotent producer can acknowledge a message
 * that was never written (research/kafka-mongo D1); duplicates are dropped by consumers. It never gives up.
 */
export function createProducer(kafka: Kafka): Producer {
  return kafka.producer({
    allowAutoTopicCreation: false,
    idempotent: false,
    maxInFlightRequests: 1,
    createPartitioner: createKeyPartitioner,
    retry: { initialRetryTime: 100, maxRetryTime: 5_000, retries: Number.MAX_SAFE_INTEGER },
  });
}

const KEYS_REMEMBERED_MAX = 50_000;

/** Kafka's own key partitioning, remembered by key: a wallet's thousandth event is not hashed again. */
function createKeyPartitioner(): ReturnType<typeof Partitioners.DefaultPartitioner> {
  const partition = Partitioners.DefaultPartitioner();
  const remembered = new Map<number, Map<string, number>>();
  return (message) => {
    const { key } = message.message;
    if (typeof key !== 'string') return partition(message);
    const count = message.partitionMetadata.length;
    const byKey = remembered.get(count) ?? new Map<string, number>();
    if (byKey.size === 0 || byKey.size > KEYS_REMEMBERED_MAX) {
      byKey.clear();
      remembered.set(count, byKey);
    }
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const chosen = partition(message);
    byKey.set(key, chosen);
    return chosen;
  };
}

const DAY_MS = 86_400_000;

/** Creates the topics that don't exist yet; replication and min ISR follow the number of brokers, at most 3 and 2. */
export async function createTopics(options: {
  readonly kafka: Kafka;
  readonly topicPrefix: string;
  readonly consumerGroups: readonly string[];
}): Promise<readonly string[]> {
  const admin = options.kafka.admin();
  await admin.connect();
  try {
    const { brokers } = await admin.describeCluster();
    const replicas = Math.min(3, brokers.length);
    const existing = new Set(await admin.listTopics());
    const wanted: Topic[] = [...Object.values(topics), ...options.consumerGroups.map(parkedTopic)];
    const missing = wanted.filter((topic) => !existing.has(options.topicPrefix + topic.name));
    if (missing.length > 0) {
      await admin.createTopics({
        waitForLeaders: false,
        topics: missing.map((topic) => ({
          topic: options.topicPrefix + topic.name,
          numPartitions: topic.partitions,
          replicationFactor: replicas,
          configEntries: [
            { name: 'cleanup.policy', value: topic.cleanup },
            { name: 'retention.ms', value: String(topic.retentionDays * DAY_MS) },
            { name: 'min.insync.replicas', value: String(Math.max(1, replicas - 1)) },
          ],
        })),
      });
      await untilLed(
        admin,
        missing.map((topic) => options.topicPrefix + topic.name),
      );
    }
    return missing.map((topic) => options.topicPrefix + topic.name);
  } finally {
    await admin.disconnect();
  }
}

const LEADER_TRIES_MAX = 100;
const LEADER_PAUSE_MS = 100;

/** Waits until every partition has a leader; kafkajs's own wait gives up at the first broker that lags behind. */
async function untilLed(admin: Admin, topicNames: readonly string[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const { topics: described } = await admin.fetchTopicMetadata({ topics: [...topicNames] });
      if (
        described.every(
          ({ partitions }) => partitions.length > 0 && partitions.every(({ leader }) => leader >= 0),
        )
      )
        return;
    } catch (error) {
      if (tries >= LEADER_TRIES_MAX) throw error;
    }
    if (tries >= LEADER_TRIES_MAX) throw new Error('new topics have no leader yet');
    await delay(LEADER_PAUSE_MS);
  }
}
