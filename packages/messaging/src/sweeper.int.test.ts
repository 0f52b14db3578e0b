import { systemClock } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { eventually, openTestScope, prepareTestNames, type TestConfig } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { Registry } from 'prom-client';
import { beforeAll, expect, it } from 'vitest';
import { bundleId, commitSource, packBundle } from './bundle.ts';
import { leasesOf, outboxOf } from './index.ts';
import { gaugeOldestBundle } from './outbox-age.ts';
import { startSweeper } from './sweeper.ts';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestNames([]);
});

const logger = createLogger({ name: 'test', level: 'silent' });

async function openOutbox(scope: ReturnType<typeof openTestScope>, name: string) {
  const client = await scope.open(new MongoClient(config.MONGODB_URL, { monitorCommands: true }));
  const db = client.db(`${config.DATABASE_PREFIX}${name}`);
  return { client, db, outbox: outboxOf(db) };
}

function orphan(sequence: number) {
  const messages = [{ topic: 't', key: 'k', body: Buffer.of(2, 107, 2, 118, 0) }];
  return packBundle({
    _id: bundleId(commitSource('test', 'dead'), sequence),
    messages,
    createdAt: new Date(0),
  });
}

it('reads no more bundles than the relay has room for, and rests while it has none', async () => {
  await using scope = openTestScope(config);
  const { client, db, outbox } = await openOutbox(scope, 'rooms');
  await outbox.insertMany(Array.from({ length: 30 }, (_, index) => orphan(index)));
  let room = 3;
  const sent: string[] = [];
  const rests: number[] = [];
  const relay = {
    holds: () => false,
    hasRoom: () => room > 0,
    send: async ({ _id }: { readonly _id: string }) => {
      room -= 1;
      sent.push(_id);
      await outbox.deleteOne({ _id });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const clock = {
    ...systemClock,
    sleep: (durationMs: number, signal?: AbortSignal) => {
      rests.push(durationMs);
      return systemClock.sleep(20, signal);
    },
  };
  let readWhole = 0;
  client.on('commandSucceeded', ({ commandName, reply }) => {
    const { cursor } = reply as { cursor?: { firstBatch?: object[]; nextBatch?: object[] } };
    const batch = cursor?.firstBatch ?? cursor?.nextBatch ?? [];
    if (['find', 'getMore'].includes(commandName))
      readWhole += batch.filter((read) => 'packed' in read).length;
  });
  await using _sweeper = startSweeper({ outbox, leases: leasesOf(db), relay, owner: 'me', clock, logger });
  await eventually(() => expect(rests.length).toBeGreaterThan(3));
  expect(sent).toHaveLength(3);
  expect(readWhole).toBeGreaterThanOrEqual(3);
  expect(readWhole).toBeLessThanOrEqual(8);
  room = 100;
  await eventually(async () => expect(await outbox.countDocuments()).toBe(0));
  expect(sent).toEqual(sent.toSorted());
});

it('tells the age of the oldest bundle when it is asked, and no age where it cannot know', async () => {
  await using scope = openTestScope(config);
  const { client, outbox } = await openOutbox(scope, 'ages');
  const registry = new Registry();
  gaugeOldestBundle({ outbox, registry, clock: { ...systemClock, nowMs: () => 90_000 } });
  const age = async () =>
    (await registry.getSingleMetric('outbox_oldest_bundle_age_seconds')?.get())?.values[0]?.value;
  expect(await age()).toBe(0);
  await outbox.insertOne({ ...orphan(2), createdAt: new Date(30_000) });
  await outbox.insertOne({ ...orphan(1), createdAt: new Date(60_000) });
  expect(await age()).toBe(60);
  await client.close();
  expect(await age()).toBeNaN();
});
