// This import comes first, because it patches kafkajs before kafkajs is loaded.
import { setTimeout as delay } from 'node:timers/promises';
import { type Topic, topics } from '@pesewa/contracts';
import { DAY_MS } from '@pesewa/kernel';
import {
  type Admin,
  type Consumer,
  Kafka,
  type KafkaConfig,
  logLevel,
  PartitionAssigners,
} from './kafkajs.ts';
import { type KafkaConnection, kafkaRemedy } from './security.ts';
import { IN_SYNC_MIN, REPLICAS_MIN } from './topic-checks.ts';

/** Where a Kafka client's warnings and errors go; membership changes of a group are logged as `info`. */
export type KafkaLog = (
  level: 'info' | 'warn' | 'error',
  message: string,
  fields: Readonly<Record<string, unknown>>,
) => void;

/** How a Kafka client reaches its cluster, and its credentials. */
export interface KafkaOptions extends KafkaConnection {
  readonly clientId: string;
  readonly log: KafkaLog;
}

/** Answers of brokers while a member joins or leaves, or the coordinator moves: the client joins again by itself. */
const GROUP_CHANGE =
  /group is rebalancing|not aware of this member|not the correct coordinator|coordinator is not available|coordinator is loading|generation id is not valid|valid member id/;

/** The level of a kafkajs message: a membership change is no failure. */
function levelOf(level: logLevel, text: string): Parameters<KafkaLog>[0] {
  if (GROUP_CHANGE.test(text)) return 'info';
  return level === logLevel.ERROR ? 'error' : 'warn';
}

/** The configuration of kafkajs. */
export function clientConfig({
  clientId,
  log: write,
  ...connection
}: KafkaOptions): KafkaConfig & { brokers: string[] } {
  const { brokers, ssl, sasl } = connection;
  return {
    ...(ssl !== undefined && { ssl }),
    ...(sasl && { sasl }),
    clientId,
    brokers: [...brokers],
    connectionTimeout: 10_000,
    requestTimeout: 10_000,
    retry: { initialRetryTime: 200, maxRetryTime: 5_000, retries: 20 },
    logLevel: logLevel.WARN,
    logCreator:
      () =>
      ({ level, log, namespace }) => {
        const text = `${log.message} ${String(log['error'])}`;
        write(levelOf(level, text), log.message, {
          kafka: namespace,
          reason: log['error'],
          group: log['groupId'],
          remedy: kafkaRemedy(text, connection),
        });
      },
  };
}

/**
 * Makes a Kafka client. Consumers must not share one, nor its map of committed offsets. With 20 retries it looks for
 * its cluster for more than a minute without a log line.
 */
export function createKafka(options: KafkaOptions, retriesMax = 20): Kafka {
  const config = clientConfig(options);
  return new Kafka({ ...config, retry: { ...config.retry, retries: retriesMax } });
}

/**
 * Sends Kafka one request; rejects, with what to do, if the brokers refuse us. It resolves if no broker answers:
 * callers that need one wait for it elsewhere.
 */
export async function checkKafkaAccess(connection: KafkaConnection): Promise<void> {
  const admin = new Kafka({
    ...connection,
    clientId: 'pesewa-access',
    brokers: [...connection.brokers],
    connectionTimeout: 10_000,
    retry: { retries: 1 },
    logLevel: logLevel.NOTHING,
  }).admin();
  try {
    await admin.connect();
    await admin.describeCluster();
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : '').split('\n');
    const remedy = kafkaRemedy(reason, connection);
    if (remedy !== undefined) throw new Error(`Kafka: ${remedy} (${reason})`, { cause: error });
  } finally {
    await admin.disconnect();
  }
}

/**
 * Creates the topics that don't exist yet; replication and min ISR follow the number of brokers, at most 3 and 2. Gives
 * the full names of all topics, and of those that were created.
 */
export async function createTopics(options: {
  readonly kafka: Kafka;
  /** How many brokers the cluster has in total; fewer may be up now. */
  readonly brokers: number;
  readonly topicPrefix: string;
  /** The least number of replicas; it rejects before it creates a topic with fewer. */
  readonly replicasMin?: number;
}): Promise<{ readonly all: readonly string[]; readonly created: readonly string[] }> {
  const admin = options.kafka.admin();
  await admin.connect();
  try {
    const { brokers } = await admin.describeCluster();
    // A broker that is down now still counts, because a topic keeps its number of replicas for life.
    const replicas = Math.min(REPLICAS_MIN, Math.max(options.brokers, brokers.length));
    if (replicas < (options.replicasMin ?? 1))
      throw new Error(
        `Kafka has ${replicas} broker(s), and production needs ${options.replicasMin}: add brokers`,
      );
    const existing = new Set(await admin.listTopics());
    const wanted: readonly Topic[] = Object.values(topics);
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
            { name: 'min.insync.replicas', value: String(Math.min(IN_SYNC_MIN, Math.max(1, replicas - 1))) },
          ],
        })),
      });
      await untilLed(
        admin,
        missing.map((topic) => options.topicPrefix + topic.name),
      );
    }
    const fullNames = (some: readonly Topic[]) => some.map(({ name }) => options.topicPrefix + name);
    return { all: fullNames(wanted), created: fullNames(missing) };
  } finally {
    await admin.disconnect();
  }
}

const LEADER_TRIES_MAX = 100;
const LEADER_PAUSE_MS = 100;

/** Waits until every partition has a leader; kafkajs's own wait fails at the first broker that lags behind. */
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

/** Room for several batches of every partition: kafkajs fetches again only when all that it fetched is processed. */
const PARTITION_FETCH_BYTES_MAX = 1_048_576;
const FETCH_BYTES_MAX = 8 * PARTITION_FETCH_BYTES_MAX;
/**
 * Longer than the client waits for an answer from Kafka, so that pending sends are answered before partitions change
 * hands.
 */
const REBALANCE_TIMEOUT_MS = 60_000;

/**
 * Builds a member of a consumer group, with settings that work around the defects of kafkajs 2.2.4
 * (ADR 3). It does not restart by itself: every crash is reported by its event, and the caller must
 * build a new member.
 *
 * `beforeHandOver` is awaited before it rejoins its group or leaves it, because another member may own its partitions
 * afterwards.
 */
export function createGroupMember(
  kafka: Kafka,
  options: {
    readonly groupId: string;
    readonly sessionTimeoutMs: number;
    readonly beforeHandOver: () => Promise<void>;
  },
): Consumer {
  return kafka.consumer({
    groupId: options.groupId,
    partitionAssigners: [
      (config) => ({ ...PartitionAssigners.roundRobin(config), beforeHandOver: options.beforeHandOver }),
    ],
    allowAutoTopicCreation: false,
    sessionTimeout: options.sessionTimeoutMs,
    heartbeatInterval: options.sessionTimeoutMs / 10,
    rebalanceTimeout: REBALANCE_TIMEOUT_MS,
    minBytes: 1,
    maxBytes: FETCH_BYTES_MAX,
    maxBytesPerPartition: PARTITION_FETCH_BYTES_MAX,
    maxWaitTimeInMs: 200,
    readUncommitted: false,
    // A new partition is noticed within this time.
    metadataMaxAge: 20_000,
    retry: {
      initialRetryTime: 200,
      maxRetryTime: 2_000,
      retries: 5,
      restartOnFailure: async () => false,
    },
  });
}
