import type { Clock } from '@pesewa/kernel';
import type { Kafka } from 'kafkajs';
import type { Collection } from 'mongodb';
import type { ConsumerOffset } from './offsets.ts';

const LOOK_PAUSE_MS = 100;

/**
 * Builds what waits until a consumer group has applied every message that topics, by their full names, hold now; it gives
 * false where it has not in time.
 *
 * Whoever compares a projection with the world outside asks this first: else the projection's lag looks like a difference.
 * Kafka is asked by one at a time: while it is away, those who have given up leave no client behind that goes on trying.
 */
export function createCatchingUp(options: {
  readonly kafka: Kafka;
  readonly offsets: Collection<ConsumerOffset>;
  readonly group: string;
  readonly clock: Clock;
}): (topics: readonly string[], timeoutMs: number) => Promise<boolean> {
  const { kafka, offsets, group, clock } = options;
  let latest: Promise<unknown> = Promise.resolve();

  const endsOf = (topics: readonly string[], deadlineMs: number) => {
    const reading = latest.then(() =>
      clock.nowMs() < deadlineMs ? readEnds(kafka, group, topics) : undefined,
    );
    latest = reading.catch(() => undefined);
    return reading;
  };

  return async (topics, timeoutMs) => {
    const deadlineMs = clock.nowMs() + timeoutMs;
    const ends = await endsOf(topics, deadlineMs);
    if (!ends) return false;
    const ids = { $in: [...ends.keys()] };
    const readConcern = { level: 'majority' } as const;
    for (;;) {
      const found = await offsets.find({ _id: ids }, { readConcern }).toArray();
      const nextById = new Map(found.map(({ _id, next }) => [_id, next]));
      if ([...ends].every(([id, end]) => (nextById.get(id) ?? 0n) >= end)) return true;
      if (clock.nowMs() >= deadlineMs) return false;
      await clock.sleep(LOOK_PAUSE_MS);
    }
  };
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
