import { topics } from '@pesewa/contracts';
import type { Infrastructure } from '@pesewa/infrastructure';
import { createKafka } from '@pesewa/kafka';
import { openCodec } from '@pesewa/messaging';
import type { Feed } from './feed.ts';
import { completion } from './open-records.ts';

/** A stand-in for the gateway that owns collections: completes each with the first fact that says so. */
export async function openOwner({ env }: Infrastructure, feed: Feed): Promise<AsyncDisposable> {
  const kafka = createKafka({
    brokers: env.KAFKA_BROKERS.split(','),
    clientId: 'bench-owner',
    log: () => undefined,
  });
  const codec = await openCodec({ registryUrl: env.SCHEMA_REGISTRY_URL, topicPrefix: '', produces: [] });
  const consumer = kafka.consumer({ groupId: 'bench-owner', maxWaitTimeInMs: 100 });
  const ended = new Set<string>();
  await consumer.connect();
  await consumer.subscribe({ topics: [topics.collectionFacts.name], fromBeginning: true });
  await consumer.run({
    eachBatch: async ({ batch }) => {
      const news: string[] = [];
      for (const { value } of batch.messages) {
        const { type, payload } = await codec.decode(value ?? Buffer.alloc(0));
        const { reference, status } = payload as { readonly reference: string; readonly status?: string };
        if (type !== 'pesewa.rails.RailStatusObserved' || status !== 'completed') continue;
        if (ended.has(reference)) continue;
        ended.add(reference);
        news.push(reference);
      }
      await feed.send(
        'collections',
        news.map((reference) => completion(reference, Date.now())),
      );
    },
  });
  return { [Symbol.asyncDispose]: () => consumer.disconnect() };
}
