import type { PartitionBounds, Positions, TopicPartition } from '@pesewa/kafka';
import { type Clock, withDeadline } from '@pesewa/kernel';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { ParkedStore } from './inbox/parked-store.ts';
import { type Outbox, oldestOf } from './outbox/outbox.ts';

/** How long a value may take to be read at a scrape; without it there is no value. */
const READ_TIMEOUT_MS = 1_000;

/** The partitions that a process owns, each with its next offset if that is known. */
export type FollowedPartitions = ReturnType<typeof gaugeLag>;

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
}) {
  const { positions, group, registry, clock } = options;
  const followed = new Map<
    string,
    { readonly place: TopicPartition; readonly next: () => bigint | undefined }
  >();
  const idOf = ({ topic, partition }: TopicPartition) => `${topic}/${partition}`;
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
    follow: (place: TopicPartition, next: () => bigint | undefined) =>
      void followed.set(idOf(place), { place, next }),
    release: (place: TopicPartition) => void followed.delete(idOf(place)),
  };
}

/** Registers `events_emitted_total`; gives the function that counts. */
export function countEmitted(registry: Registry): (types: readonly string[]) => void {
  const events = new Counter({
    name: 'events_emitted_total',
    help: 'Events that were committed for publishing, by type; an event that is published again counts again.',
    labelNames: ['type'],
    registers: [registry],
  });
  return (types) => {
    const counts = new Map<string, number>();
    for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
    for (const [type, count] of counts) events.inc({ type }, count);
  };
}

/** Registers `messages_consumed_total`. */
export function countConsumed(registry: Registry): Counter<'topic' | 'outcome'> {
  return new Counter({
    name: 'messages_consumed_total',
    help: 'Messages consumed, by topic and outcome.',
    labelNames: ['topic', 'outcome'],
    registers: [registry],
  });
}

/**
 * Registers the gauge `messages_parked`: how many parked messages of each topic wait for an operator, read at each
 * scrape; no value if the database does not answer.
 */
export function gaugeParked(options: {
  readonly store: Pick<ParkedStore, 'countWaiting'>;
  readonly topicNames: readonly string[];
  readonly registry: Registry;
  readonly clock: Clock;
}): void {
  const { store, topicNames, registry, clock } = options;
  const gauge: Gauge<'topic'> = new Gauge({
    name: 'messages_parked',
    help: 'Messages that could not be applied and wait for an operator, by topic.',
    labelNames: ['topic'],
    registers: [registry],
    collect: async () => {
      gauge.reset();
      const counted = withDeadline(store.countWaiting(READ_TIMEOUT_MS), READ_TIMEOUT_MS, clock);
      const counts = await counted.catch(() => undefined);
      if (counts) for (const topic of topicNames) gauge.set({ topic }, counts.get(topic) ?? 0);
    },
  });
}

/**
 * Registers the gauge `outbox_oldest_record_age_seconds`: how long the service's oldest outbox record has waited for Kafka,
 * read at each scrape; 0 if none waits, NaN if the database does not answer.
 */
export function gaugeOldestOutboxRecord(options: {
  readonly outbox: Outbox;
  readonly registry: Registry;
  readonly clock: Clock;
}): void {
  const { outbox, registry, clock } = options;
  const gauge: Gauge = new Gauge({
    name: 'outbox_oldest_record_age_seconds',
    help: 'Age of the oldest outbox record of events that waits for Kafka.',
    registers: [registry],
    collect: async () => {
      gauge.set(
        await withDeadline(ageSeconds(outbox, clock), READ_TIMEOUT_MS, clock).catch(() => Number.NaN),
      );
    },
  });
}

async function ageSeconds(outbox: Outbox, clock: Pick<Clock, 'nowMs'>): Promise<number> {
  const oldestAt = await oldestOf(outbox, READ_TIMEOUT_MS);
  return oldestAt === undefined ? 0 : Math.max(0, clock.nowMs() - oldestAt.getTime()) / 1_000;
}
