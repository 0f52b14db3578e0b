import type { PartitionBounds, Place, Positions } from '@pesewa/kafka';
import { type Clock, withDeadline } from '@pesewa/kernel';
import { Gauge, type Registry } from 'prom-client';

/** The partitions that a process owns, each with its next offset if that is known. */
export interface FollowedPartitions {
  readonly follow: (place: Place, next: () => bigint | undefined) => void;
  readonly release: (place: Place) => void;
}

const READ_TIMEOUT_MS = 1_000;

/**
 * Registers the gauge `consumer_lag_messages`: how many messages of each topic wait to be applied, in the partitions
 * that this process owns. Kafka is asked at each scrape; without an answer in time there is no value.
 */
export function gaugeLag(options: {
  readonly positions: Pick<Positions, 'bounds'>;
  /** The full name of the consumer group. */
  readonly group: string;
  readonly registry: Registry;
  readonly clock: Clock;
}): FollowedPartitions {
  const { positions, group, registry, clock } = options;
  const followed = new Map<string, { readonly place: Place; readonly next: () => bigint | undefined }>();
  const idOf = ({ topic, partition }: Place) => `${topic}/${partition}`;
  const lagOf = (bounds: PartitionBounds): number => {
    const { low, high, committed = low } = bounds;
    const next = followed.get(idOf(bounds))?.next() ?? committed;
    // Messages that Kafka has removed don't count as waiting.
    const first = next < low ? low : next;
    return Math.max(0, Number(high - first));
  };
  const lag = new Gauge({
    name: 'consumer_lag_messages',
    help: 'Messages that wait to be applied, in the partitions of this process, by topic; no value while Kafka does not answer.',
    labelNames: ['topic'],
    registers: [registry],
    collect: async () => {
      const places = [...followed.values()].map(({ place }) => place);
      const asked = places.length === 0 ? Promise.resolve([]) : positions.bounds(group, places);
      const bounds = await withDeadline(asked, READ_TIMEOUT_MS, clock).catch(() => []);
      lag.reset();
      for (const one of bounds) lag.inc({ topic: one.topic }, lagOf(one));
    },
  });
  return {
    follow: (place, next) => void followed.set(idOf(place), { place, next }),
    release: (place) => void followed.delete(idOf(place)),
  };
}
