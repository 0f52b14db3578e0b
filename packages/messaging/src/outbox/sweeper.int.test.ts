import { systemClock } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { eventually, openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { Registry } from 'prom-client';
import { beforeAll, expect, it } from 'vitest';
import { leasesOf, outboxOf } from '../index.ts';
import { gaugeOldestOutboxRecord } from '../metrics.ts';
import { groupCommitSource, outboxRecordId, packOutboxRecord } from './outbox.ts';
import { createOwnership } from './ownership.ts';
import { startHeartbeat, startSweeper } from './sweeper.ts';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

const logger = createLogger({ name: 'test', level: 'silent' });

async function openOutbox(scope: ReturnType<typeof openTestScope>, name: string) {
  const client = await scope.open('client', new MongoClient(config.MONGODB_URL, { monitorCommands: true }));
  const db = client.db(`${config.DATABASE_PREFIX}${name}`);
  return { client, db, outbox: outboxOf(db) };
}

function orphan(sequence: number, owner = 'dead') {
  const messages = [{ topic: 't', key: 'k', body: Buffer.of(2, 107, 2, 118, 0) }];
  return packOutboxRecord({
    _id: outboxRecordId(groupCommitSource('test', owner), sequence),
    messages,
    createdAt: new Date(0),
  });
}

function openFakeRelay(outbox: ReturnType<typeof outboxOf>) {
  const sent: string[] = [];
  const relay = {
    isPending: () => false,
    sendIfCommitted: () => undefined,
    oldestPendingSinceMs: () => undefined,
    release: () => Promise.resolve(),
    send: async ({ _id }: { readonly _id: string }) => {
      sent.push(_id);
      await outbox.deleteOne({ _id });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return { sent, relay };
}

it('sends what the dead left, each source in its order, and leaves the living theirs', async () => {
  await using scope = openTestScope(config);
  const { db, outbox } = await openOutbox(scope, 'rooms');
  const leases = leasesOf(db);
  const monotonicMs = () => performance.now();
  const shared = { leases, clock: systemClock, monotonicMs, logger };
  const dead = Array.from({ length: 30 }, (_, index) => orphan(index, 'dead'));
  const living = orphan(1, 'living');
  const forgotten = orphan(7, 'me');
  await outbox.insertMany([...dead, living, forgotten]);
  const { sent, relay } = openFakeRelay(outbox);
  const ownership = createOwnership('living', monotonicMs);
  const living1 = await startHeartbeat({
    ...shared,
    owner: 'living',
    ownership,
    abort: () => undefined,
    isRecovering: false,
  });
  await using _sweeper = startSweeper({ ...shared, outbox, relay, owner: 'me' });
  await eventually(async () => expect(await outbox.countDocuments()).toBe(1));
  expect(sent.filter((id) => id !== forgotten._id)).toEqual(dead.map(({ _id }) => _id));
  expect(sent).toContain(forgotten._id);
  await living1[Symbol.asyncDispose]();
  await eventually(async () => expect(await outbox.countDocuments()).toBe(0), 15_000);
  expect(sent.at(-1)).toBe(living._id);
});

it('exports the age of the oldest outbox record at each scrape, and none if it is unknown', async () => {
  await using scope = openTestScope(config);
  const { client, outbox } = await openOutbox(scope, 'ages');
  const registry = new Registry();
  gaugeOldestOutboxRecord({ outbox, registry, clock: { ...systemClock, nowMs: () => 90_000 } });
  const age = async () =>
    (await registry.getSingleMetric('outbox_oldest_record_age_seconds')?.get())?.values[0]?.value;
  expect(await age()).toBe(0);
  await outbox.insertOne({ ...orphan(2), createdAt: new Date(30_000) });
  await outbox.insertOne({ ...orphan(1), createdAt: new Date(60_000) });
  expect(await age()).toBe(60);
  await client.close();
  expect(await age()).toBeNaN();
});
