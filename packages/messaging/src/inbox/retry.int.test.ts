import { walletKeyOf } from '@pesewa/contracts';
import { eventually, openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { beforeAll, expect, it } from 'vitest';
import { handleTopic, type OutgoingEvent, openMessagingAs } from '../index.ts';
import { FUNDED } from '../sender.fixture.ts';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

function funded(eventId: string): OutgoingEvent {
  return {
    topic: 'ledger',
    key: walletKeyOf('demo', 'KES'),
    type: 'pesewa.ledger.WalletFunded',
    version: 1n,
    causationId: null,
    payload: { eventId, occurredAt: 1n, merchantId: 'demo', currency: 'KES', amount: 1n, commandId: eventId },
  };
}

async function openPublisher(scope: ReturnType<typeof openTestScope>) {
  const publisher = await openMessagingAs(scope, {
    service: 'publisher',
    database: 'publisher',
    produces: ['ledger'],
  });
  const publish = publisher.groupCommit<OutgoingEvent, undefined>(
    'test.publish',
    async (events, { emit }) => {
      for (const event of events) emit(event);
      return Promise.resolve(events.map(() => undefined));
    },
  );
  return (ids: readonly string[]) => Promise.all(ids.map((id) => publish.submit(funded(id))));
}

it('applies a batch again as a retry where a unique key is taken', async () => {
  await using scope = openTestScope(config);
  await using publishers = openTestScope(config);
  const publish = await openPublisher(publishers);
  const messaging = await openMessagingAs(scope, { service: 'retrying', database: 'retrying', produces: [] });
  const seen = messaging.db.collection<{ _id: string }>('seen');
  await seen.insertOne({ _id: 'twice' });
  const tries: boolean[] = [];
  const handler = handleTopic('ledger', FUNDED, async (events, transaction) => {
    const { session, isRetry } = transaction;
    tries.push(isRetry);
    for (const { eventId } of events) {
      if (isRetry && (await seen.findOne({ _id: eventId }, { session }))) continue;
      await seen.insertOne({ _id: eventId }, { session });
    }
  });
  await publish(['once', 'twice', 'also']);
  await messaging.consume([handler]);
  await eventually(async () => expect(await seen.countDocuments()).toBe(3));
  expect(tries).toEqual([false, true]);
});

it('looks for what cannot be applied by halves, parks it alone, and keeps the order', async () => {
  await using scope = openTestScope(config);
  await using publishers = openTestScope(config);
  const publish = await openPublisher(publishers);
  const messaging = await openMessagingAs(scope, { service: 'halver', database: 'halver', produces: [] });
  const applied: string[] = [];
  let tries = 0;
  const handler = handleTopic('ledger', FUNDED, async (events, transaction) => {
    tries += 1;
    const mine = events.map(({ eventId }) => eventId).filter((id) => id.startsWith('n-'));
    if (mine.includes('n-37')) throw new TypeError('not this one');
    transaction.afterCommit(() => applied.push(...mine));
    await Promise.resolve();
  });
  const ids = Array.from({ length: 64 }, (_, index) => `n-${index}`);
  await publish(ids);
  await messaging.consume([handler]);
  const wanted = ids.filter((id) => id !== 'n-37');
  await eventually(() => expect(applied).toEqual(wanted));
  expect(tries).toBeLessThan(2 * 8 + 2);
  const parked = await messaging.db.collection('parked').find().toArray();
  expect(parked.map(({ reason }): unknown => reason)).toEqual(['the handler failed: TypeError']);
});
