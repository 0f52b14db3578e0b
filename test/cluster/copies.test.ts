import { randomBytes } from 'node:crypto';
import { systemClock } from '@pesewa/kernel';
import { prepareTopics } from '@pesewa/messaging';
import { plainSettings } from '@pesewa/stack';
import { createTestKafka } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { sharedCluster } from './shared-cluster.ts';

it('topics of three brokers have three copies of each partition, even if a broker is away for a moment as they are made', async () => {
  const { env, brokers } = await sharedCluster();
  const topicPrefix = `n${randomBytes(3).toString('hex')}.`;
  const [, , slow] = brokers;
  slow?.pause();
  const prepared = prepareTopics({ settings: plainSettings(env), topicPrefix, log: () => undefined });
  // Less than its session: it still counts as one of three.
  await systemClock.sleep(3_000);
  slow?.resume();
  await prepared;
  await slow?.ready();
  const admin = createTestKafka({ KAFKA_BROKERS: brokers.map(({ address }) => address) }).admin();
  await admin.connect();
  try {
    const names = (await admin.listTopics()).filter((name) => name.startsWith(topicPrefix));
    const { topics } = await admin.fetchTopicMetadata({ topics: names });
    const copies = topics.flatMap(({ partitions }) => partitions.map(({ replicas }) => replicas.length));
    expect(new Set(copies)).toEqual(new Set([3]));
  } finally {
    await admin.disconnect();
  }
});
