import type { PartitionBounds } from '@pesewa/kafka';
import { createHealth, createLogger } from '@pesewa/runtime';
import { createAutoAdvancingClock, ignoreAllEvents } from '@pesewa/testkit';
import { Registry } from 'prom-client';
import { expect, it, vi } from 'vitest';
import { type OutboxRecord, outboxRecordId, packOutboxRecord } from '../outbox/outbox.ts';
import { createOwnership } from '../outbox/ownership.ts';
import { type AssignmentDeps, createAssignment, type PartitionControl } from './assignment.ts';
import type { FetchedBatch } from './fetched-batch.ts';
import { type StoppedPartitions, showStoppedPartitions } from './stopped-partitions.ts';
import { handleTopic } from './topic-handler.ts';

const place = { topic: 'ledger.events.v1', partition: 3 };
const source = `books/${place.topic}/3`;

/** A batch of one message, from offset 0 on. */
const batchOf = (eventType: string) =>
  ({
    batch: {
      ...place,
      messages: [{ offset: '0', key: null, value: null, headers: { 'event-type': eventType } }],
    },
    isRunning: () => true,
    isStale: () => false,
    heartbeat: async () => undefined,
    resolveOffset: () => undefined,
    progressed: () => undefined,
  }) as unknown as FetchedBatch;

/** An event of a type that no handler takes. */
const batch = batchOf('pesewa.ledger.HoldPlaced');

/** An assignment of one partition. The test decides how Kafka and transactions behave. */
function openAssignment(ways: {
  readonly leftovers?: readonly OutboxRecord[];
  readonly send?: (outboxRecord: OutboxRecord) => Promise<void>;
  readonly transact?: () => Promise<void>;
  readonly stopped?: StoppedPartitions;
}) {
  const { leftovers = [], send = async () => undefined, transact = async () => undefined } = ways;
  const { stopped = { add: () => undefined, delete: () => undefined, release: () => undefined } } = ways;
  const bounds: PartitionBounds = { ...place, topicId: 't-1', low: 0n, high: 1n, committed: undefined };
  const handler = handleTopic('ledger', ignoreAllEvents('ledger'), async () => undefined);
  const released: string[] = [];
  const deps = {
    group: 'books',
    topicPrefix: '',
    owner: 'me',
    handlers: new Map([[place.topic, handler]]),
    batchMessagesMax: 250,
    clock: createAutoAdvancingClock(),
    logger: createLogger({ name: 'test', level: 'silent' }),
    ownership: createOwnership('me', () => 0),
    positions: { bounds: async () => [bounds] },
    offsets: {
      findOne: async () => null,
      findOneAndUpdate: async () => ({ _id: source, next: 0n, topicId: 't-1', owner: 'me' }),
    },
    outbox: { find: () => ({ sort: () => leftovers.map(packOutboxRecord) }), findOne: async () => null },
    relay: { isPending: () => false, send, release: async (of: string) => void released.push(of) },
    transact: async () => {
      await transact();
      return { value: undefined, sent: Promise.resolve() };
    },
    stopped,
    followed: { follow: () => undefined, release: () => undefined },
    applied: () => undefined,
  };
  const flow = {
    pause: vi.fn<PartitionControl['pause']>(),
    resumeAt: vi.fn<PartitionControl['resumeAt']>(),
    commit: vi.fn<PartitionControl['commit']>(),
  };
  return { assignment: createAssignment(deps as unknown as AssignmentDeps, flow), flow, released };
}

it('sends what an earlier owner left once, before a partition is read: what is read meanwhile is not applied', async () => {
  const leftovers = [1, 2, 3].map((sequence) => ({
    _id: outboxRecordId(source, sequence),
    messages: [{ topic: 't', key: 'k', body: Buffer.of(2, 107, 2, 118, 0) }],
    createdAt: new Date(0),
  }));
  const arrival = Promise.withResolvers<void>();
  const sent: string[] = [];
  const transact = vi.fn<() => Promise<void>>();
  const { assignment, flow } = openAssignment({
    leftovers,
    transact,
    send: async ({ _id }) => {
      sent.push(_id);
      await arrival.promise;
    },
  });
  assignment.take([place]);
  await expect.poll(() => sent).toHaveLength(3);
  // Messages fetched before the pause are still handed over, and then again.
  await assignment.consume(batch);
  await assignment.consume(batch);
  expect(transact).not.toHaveBeenCalled();
  expect(flow.pause.mock.calls).toEqual([[place]]);
  expect(flow.resumeAt).not.toHaveBeenCalled();
  arrival.resolve();
  await expect.poll(() => flow.resumeAt.mock.calls).toEqual([[place, 0n]]);
  await assignment.consume(batch);
  expect(transact).toHaveBeenCalledTimes(1);
  expect(sent).toEqual(leftovers.map(({ _id }) => _id));
  await assignment.release();
});

it('lets go of a partition once the batch in hand is dealt with: a join may come from within a fetch', async () => {
  const reached = Promise.withResolvers<void>();
  const committed = Promise.withResolvers<void>();
  const { assignment, flow, released } = openAssignment({
    transact: () => {
      reached.resolve();
      return committed.promise;
    },
  });
  assignment.take([place]);
  await expect.poll(() => flow.resumeAt).toHaveBeenCalled();
  released.length = 0;
  const consumed = assignment.consume(batch);
  await reached.promise;
  const isReleased = vi.fn<() => void>();
  const release = assignment.release().then(isReleased);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isReleased).not.toHaveBeenCalled();
  // The batch's events are still on their way to the relay.
  expect(released).toEqual([]);
  committed.resolve();
  await Promise.all([consumed, release]);
  expect(released).toEqual([source]);
});

it('a message that stops a partition is reported once, however often it is checked again, until it is applied', async () => {
  const said: unknown[] = [];
  const stream = { write: (line: string) => void said.push((JSON.parse(line) as { msg: unknown }).msg) };
  const metrics = new Registry();
  const stopped = showStoppedPartitions({
    group: 'books',
    health: createHealth(),
    metrics,
    logger: createLogger({ name: 'test', level: 'info' }, stream),
  });
  const count = async () => (await metrics.getSingleMetricAsString('consumer_partitions_stopped')).at(-1);
  const { assignment, flow } = openAssignment({ stopped });
  const opened = (times: number) => expect.poll(() => flow.resumeAt).toHaveBeenCalledTimes(times);
  assignment.take([place]);
  for (const times of [1, 2, 3]) {
    await opened(times);
    await assignment.consume(batchOf('pesewa.ledger.WalletSplit'));
    expect(said).toEqual(['a partition is stopped']);
    expect(await count()).toBe('1');
  }
  await opened(4);
  // It is opened once by itself, and once by a join after which it is ours again.
  expect(await count()).toBe('1');
  await assignment.release();
  expect(await count()).toBe('0');
  assignment.take([place]);
  await opened(5);
  await assignment.consume(batchOf('pesewa.ledger.WalletSplit'));
  await opened(6);
  expect(said).toEqual(['a partition is stopped']);
  expect(await count()).toBe('1');
  await assignment.consume(batch);
  expect(said).toEqual(['a partition is stopped', 'a stopped partition continues']);
  expect(await count()).toBe('0');
  await assignment.release();
});
