import { topics } from '@pesewa/contracts';
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
import { handleTopic, openCodec, openMessagingAs, outboxOf } from './index.ts';
import { createMessageEncoder } from './outbox/message-encoder.ts';
import { outboxRecordId, packOutboxRecord } from './outbox/outbox.ts';
import { FUNDED, funded, openSender, outboxIsEmpty } from './sender.fixture.ts';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

const TRACE = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`;

/** A receiver that stores one document per event, so that effects can be counted. */
async function openReceiver(scope: ReturnType<typeof openTestScope>, group: string, merchantId: string) {
  const messaging = await openMessagingAs(scope, { service: group, database: group, produces: [] });
  const effects = messaging.db.collection<{ _id: string; times: number }>('effects');
  await messaging.db.createCollection('effects').catch(() => undefined);
  const handler = handleTopic('ledger', FUNDED, async (events, transaction) => {
    for (const [index, { payload, eventId }] of events.entries()) {
      if (payload.merchantId !== merchantId) continue;
      if (payload.amount === 666n) transaction.park(index, 'an unlucky amount');
      else
        await effects.updateOne(
          { _id: eventId },
          { $inc: { times: 1 } },
          { upsert: true, session: transaction.session },
        );
    }
  });
  return { messaging, effects, handler };
}

describe('accepting: one transaction, one outbox record, no phantom (E1, E2)', () => {
  it('publishes what was committed, in order per key, and empties the outbox', async () => {
    await using scope = openTestScope(config);
    const { messaging, commit } = await openSender(scope);
    const sent = await Promise.all(
      Array.from({ length: 50 }, (_, index) => commit.submit(funded('order', BigInt(index)))),
    );
    await outboxIsEmpty(messaging);
    const read = await (await createTopicReader(config))(topicNameOf(config, 'ledger'));
    const mine = read.filter(({ key }) => key === 'order:KES');
    expect(mine.map(({ headers }) => headers['event-id'])).toEqual(sent);
    expect(mine[7]?.payload['amount']).toBe(7n);
    expect(mine[0]?.headers['event-type']).toBe('pesewa.ledger.WalletFunded');
  });

  it('publishes nothing of a transaction that fails, and one bad item takes no other down', async () => {
    await using scope = openTestScope(config);
    const { messaging, commit } = await openSender(scope);
    const taken = funded('phantom', 1n);
    await commit.submit(taken);
    const outcomes = await Promise.allSettled([commit.submit(taken), commit.submit(funded('phantom', 2n))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    await outboxIsEmpty(messaging);
    const read = await (await createTopicReader(config))(topicNameOf(config, 'ledger'));
    expect(read.filter(({ key }) => key === 'phantom:KES').map(({ payload }) => payload['amount'])).toEqual([
      1n,
      2n,
    ]);
  });
});

describe('a relay that died before it sent (E1)', () => {
  it('is stood in for by the sweeper of another process', async () => {
    const event = funded('orphan', 5n);
    await using first = openTestScope(config);
    const dead = await openSender(first, 'swept');
    const { SCHEMA_REGISTRY_URL: registryUrl, TOPIC_PREFIX: topicPrefix } = config;
    const codec = await openCodec({ registryUrl, topicPrefix, produces: [topics.ledger] });
    // The outbox record as the dead process left it: committed and never sent.
    const messages = [createMessageEncoder(codec, topicPrefix, () => TRACE).event(event)];
    const left = { _id: 'commit/test.send/dead#0000000000000001', createdAt: new Date(0), messages };
    await outboxOf(dead.messaging.db).insertOne(packOutboxRecord(left));
    await outboxIsEmpty(dead.messaging);
    const read = await (await createTopicReader(config))(topicNameOf(config, 'ledger'));
    expect(read.filter(({ key }) => key === 'orphan:KES').map(({ payload }) => payload['amount'])).toEqual([
      5n,
    ]);
  });
});

describe('a partition owner that died before it sent (E1)', () => {
  it('is stood in for by the next owner, even where no further message comes', async () => {
    const event = funded('heir', 7n);
    await using scope = openTestScope(config);
    const receiver = await openReceiver(scope, 'heir', 'nobody');
    const { SCHEMA_REGISTRY_URL: registryUrl, TOPIC_PREFIX: topicPrefix } = config;
    const codec = await openCodec({ registryUrl, topicPrefix, produces: [topics.ledger] });
    const source = `heir/${topicNameOf(config, 'ledger')}/0`;
    const messages = [createMessageEncoder(codec, topicPrefix, () => TRACE).event(event)];
    const left = { _id: outboxRecordId(source, 1), createdAt: new Date(0), messages };
    await outboxOf(receiver.messaging.db).insertOne(packOutboxRecord(left));
    await receiver.messaging.consume([receiver.handler]);
    await outboxIsEmpty(receiver.messaging);
    const read = await (await createTopicReader(config))(topicNameOf(config, 'ledger'));
    expect(read.filter(({ key }) => key === 'heir:KES').map(({ payload }) => payload['amount'])).toEqual([
      7n,
    ]);
  });
});

describe('consuming: every event takes effect once (E4, E5)', () => {
  it('applies each event once although the partition is replayed from its start', async () => {
    await using scope = openTestScope(config);
    const sender = await openSender(scope, 'replay');
    const ids = await Promise.all(
      Array.from({ length: 30 }, (_, index) => sender.commit.submit(funded('replay', BigInt(index)))),
    );
    {
      await using once = openTestScope(config);
      const receiver = await openReceiver(once, 'replayer', 'replay');
      await receiver.messaging.consume([receiver.handler]);
      await eventually(async () => expect(await receiver.effects.countDocuments()).toBe(ids.length));
    }
    const kafka = createTestKafka(config);
    const admin = kafka.admin();
    await admin.connect();
    await admin.resetOffsets({
      groupId: `${config.TOPIC_PREFIX}replayer`,
      topic: topicNameOf(config, 'ledger'),
      earliest: true,
    });
    await admin.disconnect();
    await using again = openTestScope(config);
    const receiver = await openReceiver(again, 'replayer', 'replay');
    await receiver.messaging.consume([receiver.handler]);
    const last = await sender.commit.submit(funded('replay', 99n));
    await eventually(async () => expect(await receiver.effects.countDocuments({ _id: last })).toBe(1));
    expect(await receiver.effects.countDocuments({ times: { $ne: 1 } })).toBe(0);
    expect(await receiver.effects.countDocuments()).toBe(ids.length + 1);
  });

  it('fences a partition owner that wakes up after another has gone on', async () => {
    await using scope = openTestScope(config);
    const sender = await openSender(scope, 'fence');
    await using owner = openTestScope(config);
    const receiver = await openReceiver(owner, 'zombie', 'fence');
    await receiver.messaging.consume([receiver.handler]);
    const first = await sender.commit.submit(funded('fence', 1n));
    await eventually(async () => expect(await receiver.effects.countDocuments({ _id: first })).toBe(1));
    // Another owner has applied the next message already, so the offset in MongoDB is ahead of ours.
    const offsets = receiver.messaging.db.collection<{ _id: string; next: bigint; owner: string }>(
      'consumer_offsets',
    );
    const mine = (await offsets.find({ owner: receiver.messaging.owner }).toArray()).map(({ _id }) => _id);
    await offsets.updateMany({ _id: { $in: mine } }, { $inc: { next: 1n }, $set: { owner: 'another' } });
    const second = await sender.commit.submit(funded('fence', 2n));
    const third = await sender.commit.submit(funded('fence', 3n));
    await eventually(async () => expect(await receiver.effects.countDocuments({ _id: third })).toBe(1));
    expect(await receiver.effects.countDocuments({ _id: second })).toBe(0);
    expect(await receiver.effects.countDocuments({ times: { $ne: 1 } })).toBe(0);
  });

  it('parks what cannot be applied, with its reason, and goes on', async () => {
    await using scope = openTestScope(config);
    const sender = await openSender(scope, 'park');
    await using other = openTestScope(config);
    const receiver = await openReceiver(other, 'parker', 'park');
    const producer = createTestKafka(config).producer();
    await producer.connect();
    const topic = topicNameOf(config, 'ledger');
    const headers = { 'event-type': 'pesewa.ledger.WalletFunded', 'event-id': 'poison' };
    await producer.send({ topic, messages: [{ key: 'park:KES', value: 'not avro at all', headers }] });
    await producer.disconnect();
    const unlucky = await sender.commit.submit(funded('park', 666n));
    const fine = await sender.commit.submit(funded('park', 1n));
    await receiver.messaging.consume([receiver.handler]);
    await eventually(async () => expect(await receiver.effects.countDocuments({ _id: fine })).toBe(1));
    expect(await receiver.effects.countDocuments({ _id: unlucky })).toBe(0);
    await outboxIsEmpty(receiver.messaging);
    const parked = await receiver.messaging.db.collection('parked').find().sort({ offset: 1 }).toArray();
    expect(parked.map(({ reason }): unknown => reason)).toEqual([
      'not in the registry wire format',
      'an unlucky amount',
    ]);
  });
});
