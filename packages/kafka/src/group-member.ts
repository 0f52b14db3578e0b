import { type Consumer, type Kafka, PartitionAssigners } from './kafkajs.ts';

/** Several chunks of every partition: kafkajs fetches no more before all that it fetched is dealt with. */
const PARTITION_FETCH_BYTES_MAX = 1_048_576;
const FETCH_BYTES_MAX = 8 * PARTITION_FETCH_BYTES_MAX;
/** Above what an answer of Kafka is waited for, so that what is on its way is answered before partitions change hands. */
const REBALANCE_TIMEOUT_MS = 60_000;

/**
 * Builds a member of a consumer group, with the settings that answer the defects of kafkajs 2.2.4 (ADR
 * 11). It does not restart by itself: a crash of any kind is reported by its event, and a new member is to be built.
 *
 * `beforeHandOver` is awaited before it joins its group again or leaves it: another member may own its partitions afterwards.
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
    maxWaitTimeInMs: 100,
    readUncommitted: false,
    // So long a partition that was added may go unnoticed.
    metadataMaxAge: 20_000,
    retry: {
      initialRetryTime: 200,
      maxRetryTime: 2_000,
      retries: 5,
      restartOnFailure: async () => false,
    },
  });
}
