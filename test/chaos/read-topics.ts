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
  StuckSettled: 'finalised',
};

/** The kinds of entries that events of the ledger report. */
const entryKinds: Readonly<Record<string, string>> = {
  HoldPlaced: 'hold',
  HoldCaptured: 'capture',
  HoldReleased: 'release',
  CollectionCredited: 'collect',
  PayoutRefunded: 'refund',
};

/**
 * The events of the gateways, the reconciler and the ledger, each once, although a relay that died may have sent one
 * twice.
 */
export async function readTopics(
  stack: Pick<Stack, 'runFile'>,
  prefix: string,
): Promise<Pick<World, 'events' | 'reconcilerEvents' | 'ledgerEvents'>> {
  const { kafkaBrokers, schemaRegistryUrl } = stack.runFile();
  const config = {
    KAFKA_BROKERS: kafkaBrokers,
    SCHEMA_REGISTRY_URL: schemaRegistryUrl,
    TOPIC_PREFIX: `${prefix}.`,
  };
  const read = await createTopicReader(config);
  const once = async (topic: 'payouts' | 'collections' | 'reconciliation' | 'ledger') => {
    const messages = await read(topicNameOf(config, topic));
    return [...new Map(messages.map((message) => [message.headers['event-id'], message])).values()];
  };
  const [payouts, collections, reconciliation, ledger] = await Promise.all([
    once('payouts'),
    once('collections'),
    once('reconciliation'),
    once('ledger'),
  ]);
  return {
    events: [...payouts, ...collections].flatMap(toEvent),
    reconcilerEvents: reconciliation.flatMap(({ type, headers, payload }) => {
      const known = reconcilerTypes[shortName(type)];
      if (known === undefined) return [];
      const subject = String(payload['breakId'] ?? payload['reference']);
      const version = BigInt(headers['aggregate-version'] ?? '0');
      const kind = typeof payload['kind'] === 'string' ? payload['kind'] : '';
      return [{ id: headers['event-id'] ?? '', type: known, subject, version, kind }];
    }),
    ledgerEvents: ledger.flatMap(({ type, payload }) => {
      const kind = entryKinds[shortName(type)];
      return kind === undefined ? [] : [{ reference: String(payload['reference']), kind }];
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
