import { type AvroRecord, fullName, type TopicEvent, type TopicName, topics } from '@pesewa/contracts';
import type { Positions } from '@pesewa/kafka';
import type { Codec } from '../schemas/codec.ts';
import { headerOf, type Reading, type Received, readMessages, type TopicHandler } from './topic-handler.ts';

/** An event read from a topic, with the event that caused it. */
export type HistoricalEvent<Name extends TopicName> = Received<TopicEvent<Name>> & {
  /** The id of the event that caused it; empty if there is none. */
  readonly causationId: string;
};

/** Reads topics without consuming them. */
export interface TopicHistory {
  /**
   * The events of a partition from a time on until now, in order and many at once; a few earlier ones may be among
   * them. Messages that are no events of ours are left out. Rejects while Kafka is away.
   */
  readonly since: <Name extends TopicName>(
    topic: Name,
    partition: number,
    timeMs: number,
  ) => AsyncIterable<readonly HistoricalEvent<Name>[]>;
}

type Read = Extract<Reading, { readonly kind: 'event' }>;

/** Only events of the topic are read, which the type can't express. */
function toHistoricalEvent<Name extends TopicName>({ event, message }: Read): HistoricalEvent<Name> {
  return { ...event, causationId: headerOf(message, 'causation-id') } as unknown as HistoricalEvent<Name>;
}

/** Builds the function of {@link TopicHistory}. */
export function openTopicHistory(
  positions: Pick<Positions, 'since'>,
  parts: { readonly codec: Codec; readonly topicPrefix: string },
): TopicHistory['since'] {
  return async function* since<Name extends TopicName>(name: Name, partition: number, timeMs: number) {
    const events: readonly AvroRecord[] = topics[name].events;
    const all: TopicHandler = { topic: name, types: events.map(fullName), handle: async () => undefined };
    const place = { topic: parts.topicPrefix + topics[name].name, partition };
    for await (const messages of positions.since(place, timeMs)) {
      const readings = await readMessages(messages, all, parts.codec);
      yield readings.flatMap((reading) =>
        reading.kind === 'event' ? [toHistoricalEvent<Name>(reading)] : [],
      );
    }
  };
}
