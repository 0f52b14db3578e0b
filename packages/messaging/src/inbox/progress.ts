import { type TopicName, topics } from '@pesewa/contracts';
import type { KafkaOptions, Positions, TopicEnd } from '@pesewa/kafka';
import { type Clock, withDeadline } from '@pesewa/kernel';
import type { Collection, Db } from 'mongodb';
import { type ConsumerOffset, offsetsOf } from './offsets.ts';

/** Where topics end, and how far services have applied them. */
export interface Progress {
  /**
   * Waits until this service has applied everything that the topics hold now; false if it has not in time, or if Kafka
   * did not answer in time.
   */
  readonly caughtUp: (names: readonly TopicName[], timeoutMs: number) => Promise<boolean>;
  /** Where topics end now, for {@link Progress.hasApplied}; undefined if Kafka did not answer in time. */
  readonly ends: (names: readonly TopicName[], timeoutMs: number) => Promise<readonly TopicEnd[] | undefined>;
  /**
   * Whether another service has applied everything before these ends, judged by what its consumer group has committed
   * to Kafka; undefined if Kafka did not answer in time.
   */
  readonly hasApplied: (
    service: string,
    ends: readonly TopicEnd[],
    timeoutMs: number,
  ) => Promise<boolean | undefined>;
}

/** Finds out from Kafka where topics end and how far services have applied them, within a time limit. */
export function openProgress(
  clock: Clock,
  positions: Positions,
  parts: {
    readonly db: Db;
    readonly topicPrefix: string;
    readonly kafka: KafkaOptions;
    readonly group: string;
  },
): Progress & {
  /** As `caughtUp`, for a person who waits; it takes as long as Kafka and the database do, and fails as they do. */
  readonly keepsUp: Progress['caughtUp'];
} {
  const { db, topicPrefix, kafka, group } = parts;
  const waitUntilApplied = createCatchUp({ positions, offsets: offsetsOf(db), group, clock });
  const prefixed = (names: readonly TopicName[]) => names.map((name) => topicPrefix + topics[name].name);
  const inTime = <Value>(answer: Promise<Value>, timeoutMs: number): Promise<Value | undefined> =>
    withDeadline(answer, timeoutMs, clock).catch((error: unknown) => {
      kafka.log('warn', 'how far the topics go is not known', { err: error });
      return undefined;
    });
  return {
    caughtUp: async (names, timeoutMs) =>
      (await inTime(waitUntilApplied(prefixed(names), timeoutMs, POLL_PAUSE_MS), timeoutMs)) ?? false,
    keepsUp: (names, timeoutMs) => waitUntilApplied(prefixed(names), timeoutMs, SHORT_POLL_PAUSE_MS),
    ends: (names, timeoutMs) => inTime(positions.ends(prefixed(names)), timeoutMs),
    hasApplied: (service, ends, timeoutMs) =>
      inTime(positions.isPast(topicPrefix + service, ends), timeoutMs),
  };
}

const POLL_PAUSE_MS = 100;
const SHORT_POLL_PAUSE_MS = 25;

/**
 * Builds a function that waits until a consumer group has applied every message that the topics, given by full name,
 * hold now; it gives false if that takes too long.
 *
 * A comparison of a projection with the world outside needs this first: else the projection's lag looks like a
 * difference.
 */
function createCatchUp(options: {
  readonly positions: Pick<Positions, 'ends'>;
  readonly offsets: Collection<ConsumerOffset>;
  readonly group: string;
  readonly clock: Clock;
}): (topics: readonly string[], timeoutMs: number, pauseMs: number) => Promise<boolean> {
  const { positions, offsets, group, clock } = options;
  return async (topics, timeoutMs, pauseMs) => {
    const deadlineMs = clock.nowMs() + timeoutMs;
    const topicEnds = await positions.ends(topics);
    const ends = topicEnds.map(
      ({ topic, partition, end }) => [`${group}/${topic}/${partition}`, end] as const,
    );
    const ids = { $in: ends.map(([id]) => id) };
    const readConcern = { level: 'majority' } as const;
    for (;;) {
      const found = await offsets.find({ _id: ids }, { readConcern }).toArray();
      const nextById = new Map(found.map(({ _id, next }) => [_id, next]));
      if (ends.every(([id, end]) => (nextById.get(id) ?? 0n) >= end)) return true;
      if (clock.nowMs() >= deadlineMs) return false;
      await clock.sleep(pauseMs);
    }
  };
}
