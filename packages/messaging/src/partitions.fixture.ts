import { createHash } from 'node:crypto';
import { topics } from '@pesewa/contracts';
import { systemClock } from '@pesewa/kernel';
import { createLogger, createOperators, guardOperator } from '@pesewa/runtime';
import {
  createTestKafka,
  eventually,
  ignoreAllEvents,
  openTestScope,
  type TestConfig,
  topicNameOf,
} from '@pesewa/testkit';
import { expect } from 'vitest';
import { handleTopic, offsetsOf, openCodec, openMessagingAs } from './index.ts';

const TYPE = 'pesewa.ledger.WalletFunded';
const FUNDED = { ...ignoreAllEvents('ledger'), [TYPE]: 'handled' } as const;

/** A topic of these tests that they write to and damage. */
export async function openDamagedTopic(config: TestConfig) {
  const { SCHEMA_REGISTRY_URL: registryUrl, TOPIC_PREFIX: topicPrefix } = config;
  const codec = await openCodec({ registryUrl, topicPrefix, produces: [topics.ledger] });
  const topic = topicNameOf(config, 'ledger');
  const kafka = createTestKafka(config);
  const producer = kafka.producer({
    createPartitioner:
      () =>
      ({ message }) =>
        message.partition ?? 0,
  });
  const admin = kafka.admin();
  await Promise.all([producer.connect(), admin.connect()]);
  return {
    topic,
    admin,
    /** Writes events with these ids to a partition, in their order. */
    write: async (partition: number, ids: readonly string[]) => {
      const messages = ids.map((eventId) => {
        const payload = {
          eventId,
          occurredAt: 1n,
          merchantId: 'm',
          currency: 'KES',
          amount: 1n,
          commandId: '',
        };
        const headers = { 'event-type': TYPE, 'event-id': eventId };
        return { partition, key: 'm:KES', value: codec.encode(topic, TYPE, payload), headers };
      });
      await producer.send({ topic, messages, acks: -1 });
    },
    /** Deletes the topic and creates it again, without messages. */
    recreate: async () => {
      await admin.deleteTopics({ topics: [topic] });
      const { partitions } = topics.ledger;
      const again = { topic, numPartitions: partitions, replicationFactor: 1 };
      // Kafka deletes topics in the background, and until that is done it creates no topic of that name.
      await eventually(async () => expect(await admin.listTopics()).not.toContain(topic));
      // Again where a broker that was asked for the leaders did not know the topic yet; `false` says that it exists.
      await eventually(() => admin.createTopics({ topics: [again] }));
    },
    /** Makes Kafka remove the messages of partition 0 that lie before an offset. */
    cut: async (offset: number) => {
      // This call makes the client look up the topic's leaders.
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(offset) }] });
    },
    committed: async (group: string, partition: number) => {
      const [found] = await admin.fetchOffsets({ groupId: topicPrefix + group, topics: [topic] });
      return found?.partitions.find((one) => one.partition === partition)?.offset;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([producer.disconnect(), admin.disconnect()]);
    },
  };
}

const LOOK_AGAIN_MS = 15_000;

/** A clock that shortens only the pause between checks of a stopped partition, and counts those pauses. */
function createLookClock() {
  const pauses = { count: 0 };
  const clock: typeof systemClock = {
    ...systemClock,
    sleep: (durationMs, signal) => {
      if (durationMs !== LOOK_AGAIN_MS) return systemClock.sleep(durationMs, signal);
      pauses.count += 1;
      return systemClock.sleep(500, signal);
    },
  };
  return { clock, pauses };
}

const hashOf = (name: string) => Uint8Array.from(createHash('sha256').update(`token-of-${name}`).digest());

/** A service that consumes the topic; its effects are documents that count how often each event was applied. */
export async function openServiceWithPositions(config: TestConfig, group: string) {
  const stops: Record<string, unknown>[] = [];
  const stream = {
    write: (line: string) => {
      const said = JSON.parse(line) as Record<string, unknown>;
      if (said['msg'] === 'a partition is stopped') stops.push(said);
    },
  };
  const logger = createLogger({ name: 'test', level: 'info' }, stream);
  const { clock, pauses } = createLookClock();
  const scope = openTestScope(config, { clock, logger });
  const messaging = await openMessagingAs(scope, { service: group, database: group, produces: [] });
  const effects = messaging.db.collection<{ _id: string; times: number }>('effects');
  await messaging.db.createCollection('effects').catch(() => undefined);
  let gate = Promise.resolve();
  let reached = Promise.withResolvers<void>();
  const handler = handleTopic('ledger', FUNDED, async (events, { session }) => {
    reached.resolve();
    await gate;
    for (const { eventId } of events)
      await effects.updateOne({ _id: eventId }, { $inc: { times: 1 } }, { upsert: true, session });
  });
  const topic = topicNameOf(config, 'ledger');
  const idOf = (partition: number) => `${group}/${topic}/${partition}`;
  const named = ['ama', 'kofi'].map((name) => ({ name, role: 'approver' as const, tokenHash: hashOf(name) }));
  return {
    scope,
    stops,
    /** How often a stopped partition was checked and stayed stopped. */
    looks: () => pauses.count,
    offsets: offsetsOf(messaging.db),
    realign: messaging.positions.realign,
    idOf,
    start: async () => {
      await messaging.consume([handler]);
      scope.health.setServing(true);
    },
    /** Makes handlers wait until `letGo` is called; `reached` resolves when the first handler waits. */
    holdBack: () => {
      const held = Promise.withResolvers<void>();
      gate = held.promise;
      reached = Promise.withResolvers();
      return { letGo: held.resolve, reached: reached.promise };
    },
    applied: async () => {
      const all = await effects.find().sort({ _id: 1 }).toArray();
      return Object.fromEntries(all.map(({ _id, times }) => [_id, Number(times)]));
    },
    call: async (method: 'GET' | 'POST', path: string, as = 'ama', body?: object) => {
      const app = guardOperator(scope.operator, createOperators('the-token-of-nobody', named));
      const headers = { authorization: `Bearer token-of-${as}`, 'content-type': 'application/json' };
      const answer = await app.request(path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
    metric: () => scope.metrics.getSingleMetricAsString('consumer_partitions_stopped'),
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  };
}

/** What {@link openServiceWithPositions} gives. */
export type ServiceWithPositions = Awaited<ReturnType<typeof openServiceWithPositions>>;
