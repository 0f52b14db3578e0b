import { type Consumer, type Kafka, PartitionAssigners } from './kafkajs.ts';

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
