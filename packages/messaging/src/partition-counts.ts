import { topics } from '@pesewa/contracts';

const PARKED_PARTITIONS = 1;

/** How many partitions a topic has for ever, by its full name. Kafka's own answer may be wrong or changed. */
export function partitionCounts(prefix: string): (topic: string) => number {
  const counts = new Map(Object.values(topics).map(({ name, partitions }) => [prefix + name, partitions]));
  // All other topics are those of parked messages.
  return (topic) => counts.get(topic) ?? PARKED_PARTITIONS;
}
