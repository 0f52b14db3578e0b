import { type TopicName, topics } from '@pesewa/contracts';
import type { Infrastructure } from '@pesewa/infrastructure';
import { openProducer } from '@pesewa/kafka';
import { systemClock } from '@pesewa/kernel';
import { openCodec } from '@pesewa/messaging';
import { encodeRecordBody } from '@pesewa/testkit';

/** An event as its owner would publish it. */
export interface Message {
  readonly key: string;
  readonly type: string;
  readonly payload: { readonly eventId: string } & Readonly<Record<string, unknown>>;
  /** The payment's version; 1 if left out. */
  readonly version?: number;
}

/** Fills topics for the measured service. */
export interface Feed extends AsyncDisposable {
  readonly send: (name: TopicName, messages: readonly Message[]) => Promise<void>;
}

const BATCH = 2_000;

/** Opens a {@link Feed} of the topics; their schemas must be registered. */
export async function openFeed(
  { env }: Infrastructure,
  produces: readonly (typeof topics)[TopicName][],
): Promise<Feed> {
  const codec = await openCodec({ registryUrl: env.SCHEMA_REGISTRY_URL, topicPrefix: '', produces });
  const producer = openProducer({
    brokers: env.KAFKA_BROKERS.split(','),
    clientId: 'bench',
    log: () => undefined,
    clock: systemClock,
    partitionsOf: (name) => Object.values(topics).find((topic) => topic.name === name)?.partitions ?? 1,
  });
  return {
    send: async (name, outgoing) => {
      const topic = topics[name].name;
      for (let start = 0; start < outgoing.length; start += BATCH) {
        const records = outgoing.slice(start, start + BATCH).map(({ key, type, payload, version = 1 }) => ({
          topic,
          key,
          body: encodeRecordBody({
            key,
            value: codec.encode(topic, type, payload),
            headers: {
              'event-id': payload.eventId,
              'event-type': type,
              'aggregate-version': String(version),
            },
          }),
        }));
        await producer.produce({ source: 'bench', records });
      }
    },
    [Symbol.asyncDispose]: () => producer[Symbol.asyncDispose](),
  };
}
