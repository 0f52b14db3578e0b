import {
  createTestKafka,
  createTopicReader,
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  topicNameOf,
} from '@pesewa/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { handleTopic, type OutgoingEvent, openMessagingAs, outboxOf } from '../index.ts';
import { FUNDED, funded, openSender, outboxIsEmpty } from '../sender.fixture.ts';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

const TOPIC_RESOURCE = 2;

/** Sets the largest batch that the topic's brokers accept. */
async function takeAtMost(bytes: number): Promise<void> {
  const admin = createTestKafka(config).admin();
  await admin.connect();
  const name = topicNameOf(config, 'ledger');
  const configEntries = [{ name: 'max.message.bytes', value: String(bytes) }];
  const topic = { type: TOPIC_RESOURCE, name };
  await admin.alterConfigs({ validateOnly: false, resources: [{ ...topic, configEntries }] });
  // The controller answers before the broker goes by it.
  await eventually(async () => {
    const asked = { ...topic, configNames: ['max.message.bytes'] };
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [asked] });
    expect(resources[0]?.configEntries[0]?.configValue).toBe(String(bytes));
  });
  await admin.disconnect();
}

/** Larger than a batch that the broker is made to accept. */
const oversized: OutgoingEvent = {
  topic: 'ledger',
  key: 'huge:KES',
  type: 'pesewa.ledger.HoldRefused',
  version: 1n,
  causationId: null,
  payload: {
    eventId: 'huge',
    occurredAt: 1n,
    reference: 'po-1',
    merchantId: 'huge',
    currency: 'KES',
    held: 1n,
    fee: 0n,
    rail: 'upstream',
    reason: 'x'.repeat(20_000),
  },
};

describe('an outbox record that Kafka refuses', () => {
  it('waits alone: what comes with it is sent, and so is it once Kafka takes it', async () => {
    await using scope = openTestScope(config);
    const { messaging, commit } = await openSender(scope, 'refused');
    await takeAtMost(5_000);
    await commit.submit(oversized);
    const later = await commit.submit(funded('small', 3n));
    await eventually(async () => {
      const read = await (await createTopicReader(config))(topicNameOf(config, 'ledger'));
      expect(read.map(({ headers }) => headers['event-id'])).toContain(later);
    });
    expect(await outboxOf(messaging.db).countDocuments()).toBeGreaterThan(0);
    await takeAtMost(1_000_000);
    await outboxIsEmpty(messaging);
    const read = await (await createTopicReader(config))(topicNameOf(config, 'ledger'));
    expect(read.map(({ headers }) => headers['event-id'])).toContain('huge');
  });
});

/** Where the only event of a merchant lies in the ledger's topic, and what a group has committed there. */
async function placeOf(key: string, group: string) {
  const read = await (await createTopicReader(config))(topicNameOf(config, 'ledger'));
  const found = read.find((message) => message.key === key);
  const admin = createTestKafka(config).admin();
  await admin.connect();
  const topic = topicNameOf(config, 'ledger');
  const [offsets] = await admin.fetchOffsets({ groupId: config.TOPIC_PREFIX + group, topics: [topic] });
  await admin.disconnect();
  const committed = offsets?.partitions.find(({ partition }) => partition === found?.partition)?.offset;
  return { offset: String(found?.offset), committed };
}

describe('an outbox record of a partition that Kafka refuses', () => {
  it('is tried again before anything new is applied, and never passed over nor committed past', async () => {
    await using scope = openTestScope(config);
    const sender = await openSender(scope, 'stuck');
    await using other = openTestScope(config);
    const messaging = await openMessagingAs(other, {
      service: 'stuck',
      database: 'stuckend',
      produces: ['ledger'],
    });
    const applied: bigint[] = [];
    const handler = handleTopic('ledger', FUNDED, async (events, transaction) => {
      for (const { payload } of events.filter((event) => event.payload.merchantId === 'stuck')) {
        transaction.afterCommit(() => applied.push(payload.amount));
        if (payload.amount === 1n) transaction.emit({ ...oversized, key: 'stuck:KES' });
      }
      await Promise.resolve();
    });
    await takeAtMost(5_000);
    await sender.commit.submit(funded('stuck', 1n));
    await messaging.consume([handler]);
    await eventually(() => expect(applied).toEqual([1n]));
    await sender.commit.submit(funded('stuck', 2n));
    await outboxIsEmpty(sender.messaging);
    expect(await outboxOf(messaging.db).countDocuments()).toBe(1);
    expect(applied).toEqual([1n]);

    // Another process joins, and a member that must share its partitions commits all that it has resolved.
    await using successor = openTestScope(config);
    const next = await openMessagingAs(successor, {
      service: 'stuck',
      database: 'stuckend',
      produces: ['ledger'],
      readyOnceJoined: true,
    });
    await next.consume([handler]);
    successor.health.setServing(true);
    await eventually(async () => expect((await successor.health.readiness()).healthy).toBe(true));
    const { offset, committed } = await placeOf('stuck:KES', 'stuck');
    expect(committed).toBe(offset);

    await takeAtMost(1_000_000);
    await eventually(() => expect(applied).toEqual([1n, 2n]));
    await outboxIsEmpty(messaging);
  });
});
