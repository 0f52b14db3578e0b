import type { Stack } from '@pesewa/stack';
import { createTopicReader, type ReadMessage, topicNameOf } from '@pesewa/testkit';
import type { PaymentEvent, ReconcilerEvent, World } from './checker/world.ts';

const eventTypes: Readonly<Record<string, PaymentEvent['type']>> = {
  PayoutAccepted: 'opened',
  PayoutSubmitted: 'submitted',
  PayoutCompleted: 'completed',
  PayoutFailed: 'failed',
  PayoutReversed: 'reversed',
  CollectionInitiated: 'opened',
  CollectionCompletionRequested: 'completionRequested',
  CollectionCompletionClosed: 'completionClosed',
  CollectionCompleted: 'completed',
  CollectionFailed: 'failed',
};

const reconcilerTypes: Readonly<Record<string, ReconcilerEvent['type']>> = {
  BreakOpened: 'opened',
  BreakResolved: 'resolved',
  StuckSettled: 'settled',
};

/** The events of the gateways and of the reconciler; a relay that died may have sent one twice: it counts once. */
export async function readTopics(
  stack: Pick<Stack, 'runFile'>,
  prefix: string,
): Promise<Pick<World, 'events' | 'reconcilerEvents'>> {
  const { mongodbUrl, kafkaBrokers, schemaRegistryUrl } = stack.runFile();
  const config = {
    MONGODB_URL: mongodbUrl,
    KAFKA_BROKERS: kafkaBrokers,
    SCHEMA_REGISTRY_URL: schemaRegistryUrl,
    DATABASE_PREFIX: `${prefix}_`,
    TOPIC_PREFIX: `${prefix}.`,
    CONSUMER_SESSION_TIMEOUT_MS: 6_000,
  };
  const read = await createTopicReader(config);
  const once = async (topic: 'payouts' | 'collections' | 'reconciliation') => {
    const messages = await read(topicNameOf(config, topic));
    return [...new Map(messages.map((message) => [message.headers['event-id'], message])).values()];
  };
  const [payouts, collections, reconciliation] = await Promise.all([
    once('payouts'),
    once('collections'),
    once('reconciliation'),
  ]);
  return {
    events: [...payouts, ...collections].flatMap(toEvent),
    reconcilerEvents: reconciliation.flatMap(({ type, headers, payload }) => {
      const known = reconcilerTypes[shortName(type)];
      if (known === undefined) return [];
      const subject = String(payload['breakId'] ?? payload['reference']);
      return [{ id: headers['event-id'] ?? '', type: known, subject }];
    }),
  };
}

const shortName = (type: string) => type.slice(type.lastIndexOf('.') + 1);

function toEvent({ type, headers, payload }: ReadMessage): readonly PaymentEvent[] {
  const known = eventTypes[shortName(type)];
  if (known === undefined) return [];
  return [
    {
      id: headers['event-id'] ?? '',
      type: known,
      reference: String(payload['reference']),
      merchantId: String(payload['merchantId']),
      merchantReference: String(payload['merchantReference']),
      version: BigInt(headers['aggregate-version'] ?? '0'),
      atMs: Number(payload['occurredAt']),
    },
  ];
}
