import type { Clock } from '@pesewa/kernel';
import { type Broker, type Brokers, openBrokers } from './brokers.ts';
import type { KafkaOptions } from './client.ts';
import type { KafkaMessage } from './kafkajs.ts';

/** A partition by its topic's full name. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** The offset that a partition's next message gets; partitions without messages are left out. */
export interface TopicEnd extends TopicPartition {
  readonly end: bigint;
}

/** What Kafka holds of a partition, and what a group has committed for it. */
export interface PartitionBounds extends TopicPartition {
  /** A topic that was deleted and created again has another id. */
  readonly topicId: string;
  /** The offset of the oldest message still kept. */
  readonly low: bigint;
  /** The offset that the next message gets. */
  readonly high: bigint;
  /** The group's last committed offset; undefined if it never committed, or so long ago that Kafka has forgotten it. */
  readonly committed: bigint | undefined;
}

/** Reads positions from Kafka. Everything rejects while Kafka is away, and the caller retries. */
export type Positions = ReturnType<typeof openPositions>;

const LATEST = -1;
const EARLIEST = -2;

const idOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

function byTopic(
  places: readonly TopicPartition[],
): readonly { topic: string; partitions: { partition: number }[] }[] {
  const grouped = Map.groupBy(places, ({ topic }) => topic);
  return [...grouped].map(([topic, list]) => ({
    topic,
    partitions: list.map(({ partition }) => ({ partition })),
  }));
}

/** Opens the reader of positions. */
export function openPositions(options: KafkaOptions & { readonly clock: Clock }) {
  const nodes = openBrokers(options);
  return {
    bounds: async (group: string, places: readonly TopicPartition[]): Promise<readonly PartitionBounds[]> => {
      const topics = await describe(
        nodes,
        places.map(({ topic }) => topic),
      );
      const [low, high, committed] = await Promise.all([
        offsets(nodes, topics, places, EARLIEST),
        offsets(nodes, topics, places, LATEST),
        committedOf(nodes, group, places),
      ]);
      return places.map((place) => ({
        ...place,
        topicId: topics.get(place.topic)?.id ?? '',
        low: found(low, place),
        high: found(high, place),
        committed: committed.get(idOf(place)),
      }));
    },
    /** All partitions of topics, by the topics' full names. */
    places: async (names: readonly string[]): Promise<readonly TopicPartition[]> =>
      placesIn(await describe(nodes, names)),
    /** The ends of all partitions that hold a message. */
    ends: async (names: readonly string[]): Promise<readonly TopicEnd[]> => {
      const topics = await describe(nodes, names);
      const places = placesIn(topics);
      const [low, high] = await Promise.all([
        offsets(nodes, topics, places, EARLIEST),
        offsets(nodes, topics, places, LATEST),
      ]);
      return places
        .filter((place) => found(low, place) !== found(high, place))
        .map((place) => ({ ...place, end: found(high, place) }));
    },
    /**
     * Whether a group has committed offsets past these ends. Services commit only after their database has the messages,
     * so true is reliable; false may be out of date.
     */
    isPast: async (group: string, ends: readonly TopicEnd[]) => {
      if (ends.length === 0) return true;
      const committed = await committedOf(nodes, group, ends);
      return ends.every((place) => (committed.get(idOf(place)) ?? -1n) >= place.end);
    },
    /** The offset of a partition's first message at or after a time, in milliseconds; undefined if there is none. */
    offsetForTime: async (place: TopicPartition, timeMs: number) => {
      const first = found(await offsets(nodes, await describe(nodes, [place.topic]), [place], timeMs), place);
      return first < 0n ? undefined : first;
    },
    /**
     * The messages of a partition at or after a time, in milliseconds, up to its end now: without a group, and as many at
     * once as an answer holds. A few earlier ones may be among them.
     */
    since: (place: TopicPartition, timeMs: number): AsyncIterable<readonly KafkaMessage[]> =>
      readSince(nodes, place, timeMs),
    [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose](),
  };
}

function found(known: ReadonlyMap<string, bigint>, place: TopicPartition): bigint {
  const offset = known.get(idOf(place));
  if (offset === undefined) throw new Error(`Kafka does not say what ${idOf(place)} holds`);
  return offset;
}

interface Described {
  readonly id: string;
  readonly leaders: ReadonlyMap<number, number>;
}

function placesIn(topics: ReadonlyMap<string, Described>): readonly TopicPartition[] {
  return [...topics].flatMap(([topic, { leaders }]) =>
    [...leaders.keys()].map((partition) => ({ topic, partition })),
  );
}

async function describe(nodes: Brokers, names: readonly string[]): Promise<ReadonlyMap<string, Described>> {
  const { topics } = await nodes.metadata([...new Set(names)]);
  return new Map(
    topics.map(({ name, id, partitions }) => [
      name,
      { id, leaders: new Map(partitions.map(({ partition, leader }) => [partition, leader])) },
    ]),
  );
}

async function offsets(
  nodes: Brokers,
  topics: ReadonlyMap<string, Described>,
  places: readonly TopicPartition[],
  timestamp: number,
): Promise<ReadonlyMap<string, bigint>> {
  const leaderOf = ({ topic, partition }: TopicPartition) => topics.get(topic)?.leaders.get(partition) ?? -1;
  const answers = await Promise.all(
    [...Map.groupBy(places, leaderOf)].map(async ([leader, led]) => {
      const [first] = led;
      if (leader < 0 && first) throw new Error(`there is no leader for ${idOf(first)}`);
      const question = byTopic(led).map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(({ partition }) => ({ partition, timestamp }) as const),
      }));
      return ask(nodes, leader, (node) => node.listOffsets({ isolationLevel: 0, topics: question }));
    }),
  );
  return offsetsIn(answers.flatMap(({ responses }) => responses));
}

const FETCH = { replicaId: -1, isolationLevel: 0, maxWaitTime: 1_000, minBytes: 1 } as const;
const FETCH_BYTES_MAX = 1_048_576;

async function* readSince(
  nodes: Brokers,
  place: TopicPartition,
  timeMs: number,
): AsyncGenerator<readonly KafkaMessage[]> {
  const { topic, partition } = place;
  const topics = await describe(nodes, [topic]);
  const at = async (timestamp: number) => found(await offsets(nodes, topics, [place], timestamp), place);
  const end = await at(LATEST);
  let next = await at(timeMs);
  // There is no message since then.
  if (next < 0n) return;
  while (next < end) {
    const leader = (await describe(nodes, [topic])).get(topic)?.leaders.get(partition) ?? -1;
    const partitions = [{ partition, fetchOffset: String(next), maxBytes: FETCH_BYTES_MAX }];
    const { responses } = await ask(nodes, leader, (node) =>
      node.fetch({ ...FETCH, maxBytes: FETCH_BYTES_MAX, topics: [{ topic, partitions }] }),
    );
    const answered = responses.flatMap((response) => response.partitions).flatMap(({ messages }) => messages);
    const from = next;
    // A broker answers with whole batches, which may begin earlier.
    const messages = answered.filter(({ offset }) => BigInt(offset) >= from && BigInt(offset) < end);
    const last = messages.at(-1);
    if (!last)
      throw new Error(`Kafka gives nothing of ${idOf(place)} from ${next} on, though it ends at ${end}`);
    yield messages;
    next = BigInt(last.offset) + 1n;
  }
}

/** Asks one broker; a failed connection is reopened by the next request. */
async function ask<Answer>(
  nodes: Brokers,
  broker: number,
  question: (node: Broker) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await question(await nodes.byId(broker));
  } catch (error) {
    nodes.drop(broker);
    throw error;
  }
}

async function committedOf(
  nodes: Brokers,
  groupId: string,
  places: readonly TopicPartition[],
): Promise<ReadonlyMap<string, bigint>> {
  const { coordinator } = await nodes.any((node) =>
    node.findGroupCoordinator({ groupId, coordinatorType: 0 }),
  );
  const { responses } = await ask(nodes, coordinator.nodeId, (node) =>
    node.offsetFetch({ groupId, topics: byTopic(places) }),
  );
  // A partition without a committed offset is answered with -1.
  return new Map([...offsetsIn(responses)].filter(([, offset]) => offset >= 0n));
}

function offsetsIn(
  responses: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
  }[],
): ReadonlyMap<string, bigint> {
  return new Map(
    responses.flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, offset }) => [idOf({ topic, partition }), BigInt(offset)] as const),
    ),
  );
}
