import { walletKeyOf } from '@pesewa/contracts';
import type { Node } from '@pesewa/infrastructure';
import { type OutgoingEvent, openMessagingAs, outboxOf } from '@pesewa/messaging';
import {
  createTopicReader,
  eventually,
  openTestScope,
  prepareTestEnvironment,
  topicNameOf,
} from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { expect, it } from 'vitest';
import { sharedCluster } from './shared-cluster.ts';

const clientOf = ({ address }: Node) =>
  MongoClient.connect(`mongodb://${address}/?directConnection=true`, { serverSelectionTimeoutMS: 5_000 });

/** The member that accepts writes, and the others. */
async function primaryOf(members: readonly Node[]): Promise<{ primary: Node; secondaries: readonly Node[] }> {
  return eventually(async () => {
    for (const member of members) {
      await using client = await clientOf(member);
      const { isWritablePrimary } = await client.db('admin').command({ hello: 1 });
      if (isWritablePrimary === true)
        return { primary: member, secondaries: members.filter((other) => other !== member) };
    }
    throw new Error('no member is primary');
  });
}

const funded: OutgoingEvent = {
  topic: 'ledger',
  key: walletKeyOf('removal', 'KES'),
  type: 'pesewa.ledger.WalletFunded',
  version: 1n,
  causationId: null,
  payload: {
    eventId: 'removal-1',
    occurredAt: 1n,
    merchantId: 'removal',
    currency: 'KES',
    amount: 1n,
    commandId: 'removal-1',
  },
};

it('an outbox record that a primary removed alone, before it was lost, is removed again, and not sent again', async () => {
  const { env, members } = await sharedCluster();
  const config = await prepareTestEnvironment((name) => env[name]);
  const { primary, secondaries } = await primaryOf(members);
  const alone = Promise.withResolvers<void>();
  let isArmed = true;
  await using scope = openTestScope(config, {
    // Kafka has the outbox record; from here on the primary's writes reach no other member.
    crashPoint: (name) => {
      if (name !== 'relay.after-send' || !isArmed) return;
      isArmed = false;
      Promise.all(secondaries.map((member) => member.kill())).then(() => alone.resolve(), alone.reject);
    },
  });
  const messaging = await openMessagingAs(scope, {
    service: 'ledger',
    database: 'removal',
    produces: ['ledger'],
  });
  const sending = messaging.groupCommit<OutgoingEvent, null>('removal.send', async (events, { emit }) => {
    for (const event of events) emit(event);
    return Promise.resolve(events.map(() => null));
  });
  await sending.submit(funded);
  await alone.promise;
  await using seen = await clientOf(primary);
  const ofPrimary = seen
    .db(messaging.db.databaseName)
    .collection('outbox', { readConcern: { level: 'local' } });
  await eventually(async () => expect(await ofPrimary.countDocuments()).toBe(0));
  await primary.kill();
  await Promise.all(secondaries.map((member) => member.start()));
  await primaryOf(secondaries);
  // The lost primary's writes are rolled back when it returns.
  await primary.start();
  await eventually(async () => expect(await outboxOf(messaging.db).countDocuments()).toBe(0), 60_000);
  const published = await (await createTopicReader(config))(topicNameOf(config, 'ledger'));
  expect(published.map(({ headers }) => headers['event-id'])).toEqual(['removal-1']);
}, 180_000);
