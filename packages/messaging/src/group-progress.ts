import type { Clock } from '@pesewa/kernel';
import type { Kafka } from 'kafkajs';

type Admin = ReturnType<Kafka['admin']>;

/** The offset that a partition's next message gets; a partition without messages has none. */
export interface TopicEnd {
  readonly topic: string;
  readonly partition: number;
  readonly end: bigint;
}

/** How far topics go, and how far consumer groups say that they have come. */
export interface GroupProgress {
  /** The ends of all partitions that hold a message. */
  readonly ends: (topics: readonly string[], timeoutMs: number) => Promise<readonly TopicEnd[]>;
  /**
   * Whether a group has committed to Kafka that it is past these ends. A service does that once its database has them, so
   * this is never said too early; it may be said late.
   */
  readonly isPast: (group: string, ends: readonly TopicEnd[], timeoutMs: number) => Promise<boolean>;
}

/**
 * Builds {@link GroupProgress}; whoever asks gives up for himself. Kafka is asked by one at a time: while it is away, those
 * who have given up leave no client behind that goes on trying.
 */
export function createGroupProgress({
  kafka,
  clock,
}: {
  readonly kafka: Kafka;
  readonly clock: Clock;
}): GroupProgress {
  let latest: Promise<unknown> = Promise.resolve();
  const ask = <Value>(timeoutMs: number, question: (admin: Admin) => Promise<Value>): Promise<Value> => {
    const deadlineMs = clock.nowMs() + timeoutMs;
    const asking = latest.then(async () => {
      if (clock.nowMs() >= deadlineMs) throw new Error('Kafka has not told in time');
      const admin = kafka.admin();
      await admin.connect();
      try {
        return await question(admin);
      } finally {
        await admin.disconnect();
      }
    });
    latest = asking.catch(() => undefined);
    return asking;
  };
  return {
    ends: (topics, timeoutMs) => ask(timeoutMs, (admin) => readEnds(admin, topics)),
    isPast: (group, ends, timeoutMs) => ask(timeoutMs, (admin) => isGroupPast(admin, group, ends)),
  };
}

async function readEnds(admin: Admin, topics: readonly string[]): Promise<readonly TopicEnd[]> {
  const ends = await Promise.all(
    topics.map(async (topic) => {
      const partitions = await admin.fetchTopicOffsets(topic);
      return partitions
        .filter(({ low, high }) => low !== high)
        .map(({ partition, high }) => ({ topic, partition, end: BigInt(high) }));
    }),
  );
  return ends.flat();
}

async function isGroupPast(admin: Admin, groupId: string, ends: readonly TopicEnd[]): Promise<boolean> {
  const topics = [...new Set(ends.map(({ topic }) => topic))];
  if (topics.length === 0) return true;
  const committed = new Map<string, bigint>();
  for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics })) {
    for (const { partition, offset } of partitions) committed.set(`${topic}/${partition}`, BigInt(offset));
  }
  // What was never committed is told as -1.
  return ends.every(({ topic, partition, end }) => (committed.get(`${topic}/${partition}`) ?? -1n) >= end);
}
