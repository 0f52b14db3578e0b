import { type TopicName, topics, walletKeyOf } from '@pesewa/contracts';
import { createKafka, openCodec } from '@pesewa/messaging';
import type { Infrastructure } from '@pesewa/stack';
import { waitUntil } from '@pesewa/stack';
import { Partitioners } from 'kafkajs';

/** What the ledger is fed with and asked for in a benchmark. */
export interface LedgerTopics extends AsyncDisposable {
  readonly fund: (wallets: readonly string[]) => Promise<void>;
  readonly requestHolds: (count: number, wallets: readonly string[], run: string) => Promise<void>;
  /** Waits for that many further events of ledger.events; gives their rate between the first arrival and the last. */
  readonly measure: (count: number) => Promise<number>;
}

const BATCH = 2_000;
const PATIENCE_MS = 180_000;
const CURRENCY = 'KES';

interface Message {
  readonly key: string;
  readonly type: string;
  readonly payload: { readonly eventId: string };
}

/** Opens a producer of commands and payouts, and a counter of what the ledger publishes. */
export async function openLedgerTopics(infrastructure: Infrastructure): Promise<LedgerTopics> {
  const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL: registryUrl } = infrastructure.env;
  const kafka = createKafka({ brokers: KAFKA_BROKERS.split(','), clientId: 'bench', log: () => undefined });
  const codec = await openCodec({ registryUrl, topicPrefix: '', produces: [topics.payouts, topics.ledgerCommands] });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const consumer = kafka.consumer({ groupId: 'bench', maxWaitTimeInMs: 20 });
  await consumer.connect();
  await consumer.subscribe({ topics: [topics.ledger.name], fromBeginning: true });
  let seen = 0;
  let first: { readonly atMs: number; readonly count: number } | undefined;
  let lastAtMs = 0;
  await consumer.run({
    eachBatch: async ({ batch }) => {
      lastAtMs = performance.now();
      first ??= { atMs: lastAtMs, count: batch.messages.length };
      seen += batch.messages.length;
      await Promise.resolve();
    },
  });

  async function send(name: TopicName, messages: readonly Message[]): Promise<void> {
    const topic = topics[name].name;
    for (let start = 0; start < messages.length; start += BATCH) {
      await producer.send({
        topic,
        messages: messages.slice(start, start + BATCH).map(({ key, type, payload }) => ({
          key,
          value: codec.encode(topic, type, payload),
          headers: { 'event-id': payload.eventId, 'event-type': type, 'aggregate-version': '1' },
        })),
      });
    }
  }

  return {
    fund: (wallets) =>
      send(
        'ledgerCommands',
        wallets.map((merchantId) => ({
          key: walletKeyOf(merchantId, CURRENCY),
          type: 'pesewa.ledger.FundWallet',
          payload: { eventId: `fund-${merchantId}`, occurredAt: 1n, requestedBy: 'bench', amount: 10n ** 12n, currency: CURRENCY, merchantId },
        })),
      ),
    requestHolds: (count, wallets, run) =>
      send(
        'payouts',
        Array.from({ length: count }, (_, index) => holdRequest(`${run}-${index}`, wallets[index % wallets.length] ?? '')),
      ),
    measure: async (count) => {
      await waitUntil('the ledger', PATIENCE_MS, async () => {
        if (seen < count) throw new Error(`${seen} of ${count} events`);
        await Promise.resolve();
      });
      const rate = (1_000 * (count - (first?.count ?? 0))) / (lastAtMs - (first?.atMs ?? 0));
      seen = 0;
      first = undefined;
      return rate;
    },
    [Symbol.asyncDispose]: async () => {
      await consumer.disconnect();
      await producer.disconnect();
    },
  };
}

function holdRequest(id: string, merchantId: string): Message {
  return {
    key: walletKeyOf(merchantId, CURRENCY),
    type: 'pesewa.payouts.PayoutAccepted',
    payload: {
      eventId: `ev-${id}`,
      ...{ occurredAt: 1n, reference: `po-${id}`, merchantReference: id, merchantId, currency: CURRENCY },
      ...{ amount: 1_000n, fee: 10n, country: 'KEN', channel: 'Bank Transfer', bankCode: '01', rail: 'upstream' },
      batchReference: null,
    } as Message['payload'],
  };
}
