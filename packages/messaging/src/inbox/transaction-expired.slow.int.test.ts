import { walletKeyOf } from '@pesewa/contracts';
import { systemClock } from '@pesewa/kernel';
import { eventually, openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { beforeAll, expect, it } from 'vitest';
import { handleTopic, type OutgoingEvent, openMessagingAs } from '../index.ts';
import { FUNDED } from '../sender.fixture.ts';

const EVENTS = 60;
/**
 * All events together take longer than the server lets a transaction live, so it is retried; each half takes
 * less.
 */
const EVENT_MS = 150;

let config: TestConfig;

beforeAll(async () => {
  config = { ...(await prepareTestEnvironment()), CONSUMER_SESSION_TIMEOUT_MS: 60_000 };
});

it('a batch that takes longer than a transaction may live is applied in halves, each event once', async () => {
  await using scope = openTestScope(config);
  const { db, consume, groupCommit } = await openMessagingAs(scope, {
    service: 'outlived',
    database: 'outlived',
    produces: ['ledger'],
  });
  for (const name of ['outbox', 'effects']) await db.createCollection(name).catch(() => undefined);
  const commit = groupCommit<readonly OutgoingEvent[], null>('test.outlived', async (groups, { emit }) => {
    for (const event of groups.flat()) emit(event);
    return groups.map(() => null);
  });
  const events = Array.from(
    { length: EVENTS },
    (_, index): OutgoingEvent => ({
      topic: 'ledger',
      key: walletKeyOf('slow', 'KES'),
      type: 'pesewa.ledger.WalletFunded',
      version: BigInt(index + 1),
      causationId: null,
      payload: {
        occurredAt: 1n,
        merchantId: 'slow',
        currency: 'KES',
        amount: BigInt(index),
        commandId: `c-${index}`,
      },
    }),
  );
  await commit.submit(events);
  const effects = db.collection<{ _id: string; times: number }>('effects');
  const sizes: number[] = [];
  await consume([
    handleTopic('ledger', FUNDED, async (received, { session }) => {
      sizes.push(received.length);
      for (const { eventId } of received) {
        // This is the work itself, which takes time for each event; it waits for nothing.
        await systemClock.sleep(EVENT_MS);
        await effects.updateOne({ _id: eventId }, { $inc: { times: 1 } }, { upsert: true, session });
      }
    }),
  ]);
  await eventually(async () => expect(await effects.countDocuments()).toBe(EVENTS), 50_000);
  expect(await effects.countDocuments({ times: { $ne: 1 } })).toBe(0);
  expect(sizes[0]).toBe(EVENTS);
  expect(Math.min(...sizes)).toBeLessThan(EVENTS);
}, 60_000);
