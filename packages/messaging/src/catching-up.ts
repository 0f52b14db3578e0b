import type { Positions } from '@pesewa/kafka';
import type { Clock } from '@pesewa/kernel';
import type { Collection } from 'mongodb';
import type { ConsumerOffset } from './offsets.ts';

const LOOK_PAUSE_MS = 100;

/**
 * Builds a function that waits until a consumer group has applied every message that the topics, given by full name,
 * hold now; it gives false if that takes too long.
 *
 * A comparison of a projection with the world outside needs this first: else the projection's lag looks like a
 * difference.
 */
export function createCatchingUp(options: {
  readonly positions: Pick<Positions, 'ends'>;
  readonly offsets: Collection<ConsumerOffset>;
  readonly group: string;
  readonly clock: Clock;
}): (topics: readonly string[], timeoutMs: number) => Promise<boolean> {
  const { positions, offsets, group, clock } = options;
  return async (topics, timeoutMs) => {
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
      await clock.sleep(LOOK_PAUSE_MS);
    }
  };
}
