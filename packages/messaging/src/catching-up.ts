import type { Clock } from '@pesewa/kernel';
import type { Kafka } from 'kafkajs';
import type { Collection } from 'mongodb';
import type { ConsumerOffset } from './offsets.ts';

const LOOK_PAUSE_MS = 100;

/**
 * Waits until a consumer group has applied every message that topics hold now; false where it has not in time.
 *
 * Whoever compares a projection with the world outside asks this first: else the projection's lag looks like a difference.
 */
export async function untilApplied(options: {
  readonly kafka: Kafka;
  readonly offsets: Collection<ConsumerOffset>;
  readonly group: string;
  /** With the prefix of this installation. */
  readonly topics: readonly string[];
  readonly timeoutMs: number;
  readonly clock: Clock;
}): Promise<boolean> {
  const { kafka, offsets, group, topics, clock } = options;
  const deadlineMs = clock.nowMs() + options.timeoutMs;
  const ends = await readEnds(kafka, group, topics);
  const ids = { $in: [...ends.keys()] };
  const readConcern = { level: 'majority' } as const;
  for (;;) {
    const found = await offsets.find({ _id: ids }, { readConcern }).toArray();
    const nextById = new Map(found.map(({ _id, next }) => [_id, next]));
    if ([...ends].every(([id, end]) => (nextById.get(id) ?? 0n) >= end)) return true;
    if (clock.nowMs() >= deadlineMs) return false;
    await clock.sleep(LOOK_PAUSE_MS);
  }
}

/** The ends of all partitions that hold a message, by the ids of their offsets. */
async function readEnds(
  kafka: Kafka,
  group: string,
  topics: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const ends = await Promise.all(
      topics.map(async (topic) => {
        const partitions = await admin.fetchTopicOffsets(topic);
        return partitions
          .filter(({ low, high }) => low !== high)
          .map(({ partition, high }) => [`${group}/${topic}/${partition}`, BigInt(high)] as const);
      }),
    );
    return new Map(ends.flat());
  } finally {
    await admin.disconnect();
  }
}
