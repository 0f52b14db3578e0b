import type { EachBatchPayload, Kafka } from '@pesewa/kafka';
import { type Clock, systemClock } from '@pesewa/kernel';
import { createHealth, createLogger } from '@pesewa/runtime';
import { ignoreAllEvents } from '@pesewa/testkit';
import { expect, it, vi } from 'vitest';
import { createOwnership } from '../outbox/ownership.ts';
import { type ConsumerOptions, runConsumer } from './consumer.ts';
import { handleTopic } from './topic-handler.ts';

const TOPIC = 'ledger.events.v1';
const MINUTE_MS = 60_000;

/** A group member in place of kafkajs's: the test decides what it is given. */
function openKafka() {
  const listeners = new Map<string, (event: { readonly payload: object }) => void>();
  const started = Promise.withResolvers<(payload: EachBatchPayload) => Promise<void>>();
  let handOver: (() => Promise<void>) | undefined;
  const consumer = {
    events: { REQUEST: 'request', HEARTBEAT: 'heartbeat', GROUP_JOIN: 'join', CRASH: 'crash' },
    on: (event: string, listener: (event: { readonly payload: object }) => void) =>
      void listeners.set(event, listener),
    connect: async () => undefined,
    subscribe: async () => undefined,
    run: async ({ eachBatch }: { readonly eachBatch: (payload: EachBatchPayload) => Promise<void> }) =>
      started.resolve(eachBatch),
    pause: () => undefined,
    seek: () => undefined,
    resume: vi.fn<() => void>(),
    disconnect: async () => undefined,
  };
  type Assigner = (config: object) => { readonly beforeHandOver?: () => Promise<void> };
  const kafka = {
    consumer: ({ partitionAssigners: [assigner] }: { readonly partitionAssigners: readonly Assigner[] }) => {
      handOver = assigner?.({ cluster: {}, groupId: 'books' }).beforeHandOver;
      return consumer;
    },
  };
  return {
    kafka: kafka as unknown as Kafka,
    eachBatch: started.promise,
    resumed: consumer.resume,
    join: (partitions: readonly number[]) =>
      listeners.get('join')?.({ payload: { memberAssignment: { [TOPIC]: partitions } } }),
    answer: () => listeners.get('request')?.({ payload: { apiName: 'Fetch', duration: 1 } }),
    crash: () => listeners.get('crash')?.({ payload: { error: new Error('no Kafka') } }),
    handOver: () => handOver?.(),
  };
}

const payloadOf = (partition: number, offset: number): EachBatchPayload =>
  ({
    batch: {
      topic: TOPIC,
      partition,
      messages: [
        {
          offset: String(offset),
          key: null,
          value: null,
          headers: { 'event-type': 'pesewa.ledger.HoldPlaced' },
        },
      ],
    },
    isRunning: () => true,
    isStale: () => false,
    heartbeat: async () => undefined,
    resolveOffset: () => undefined,
  }) as unknown as EachBatchPayload;

/** A consumer of two partitions. The test lets its commits happen and moves its clock. */
async function openConsumer({ readyOnceJoined = false, joins = true } = {}) {
  const cluster = openKafka();
  const health = createHealth();
  let nowMs = 0;
  let wallClockMs = 0;
  const sleep = () => new Promise<void>((resolve) => setImmediate(resolve));
  const clock: Clock = { ...systemClock, nowMs: () => wallClockMs, sleep };
  const connect = vi.fn<() => Kafka>(() => cluster.kafka);
  const commits = new Map<number, () => void>();
  const released: string[] = [];
  const consumer = runConsumer({
    group: 'books',
    topicPrefix: '',
    owner: 'me',
    handlers: [handleTopic('ledger', ignoreAllEvents('ledger'), async () => undefined)],
    batchMessagesMax: 250,
    sessionTimeoutMs: 10_000,
    connect,
    readyOnceJoined,
    monotonicMs: () => nowMs,
    health,
    clock,
    logger: createLogger({ name: 'test', level: 'silent' }),
    ownership: createOwnership('me', () => 0),
    positions: {
      bounds: async (_group: string, places: readonly object[]) =>
        places.map((place) => ({ ...place, topicId: 't-1', low: 0n, high: 1n, committed: undefined })),
    },
    offsets: {
      findOne: async () => null,
      findOneAndUpdate: async () => ({ next: 0n, topicId: 't-1', owner: 'me' }),
    },
    outbox: { find: () => ({ sort: () => [] }), findOne: async () => null },
    relay: { release: async (source: string) => void released.push(source) },
    transact: async (_name: string, { source }: { readonly source: string }) => {
      await new Promise<void>((resolve) => commits.set(Number(source.at(-1)), resolve));
      return { value: undefined, sent: Promise.resolve() };
    },
    stopped: { add: () => undefined, delete: () => undefined, release: () => undefined },
    followed: { follow: () => undefined, release: () => undefined },
    applied: () => undefined,
  } as unknown as ConsumerOptions);
  const partitions = joins ? [0, 1] : [];
  if (joins) cluster.join(partitions);
  await expect.poll(() => cluster.resumed).toHaveBeenCalledTimes(partitions.length);
  released.length = 0;
  const eachBatch = await cluster.eachBatch;
  health.setServing(true);
  return {
    ...cluster,
    consumer,
    released,
    /** Makes Kafka fail the consumer, which then begins anew. */
    crash: async () => {
      const lives = connect.mock.calls.length;
      cluster.crash();
      await expect.poll(() => connect).toHaveBeenCalledTimes(lives + 1);
    },
    /** Begins a batch, which waits until the test lets its commit happen. */
    begin: async (partition: number, offset = 0) => {
      commits.delete(partition);
      const done = eachBatch(payloadOf(partition, offset));
      await expect.poll(() => commits.has(partition)).toBe(true);
      return { done, commit: () => commits.get(partition)?.() };
    },
    pass: (durationMs: number) => {
      nowMs += durationMs;
      wallClockMs += durationMs;
    },
    /** Sets the wall clock forward or back; no time passes. */
    stepWallClock: (byMs: number) => {
      wallClockMs += byMs;
    },
    failures: async () => (await health.liveness()).failures,
    unready: async () => (await health.readiness()).failures,
  };
}

it('a batch that stands still is seen, however well those of other partitions move', async () => {
  const { consumer, begin, pass, failures, crash } = await openConsumer();
  const stuck = await begin(0);
  for (let round = 0; round < 2; round += 1) {
    expect(await failures()).toEqual({});
    const moving = await begin(1, round);
    moving.commit();
    await moving.done;
    pass(0.6 * MINUTE_MS);
  }
  expect(await failures()).toEqual({ 'consumer books': 'stalled' });
  stuck.commit();
  await stuck.done;
  expect(await failures()).toEqual({});
  // Without a batch the silence is Kafka's. A healthy consumer gives up in time and begins anew.
  for (let minutes = 0; minutes < 30; minutes += 3) {
    pass(3 * MINUTE_MS);
    expect(await failures()).toEqual({});
    await crash();
  }
  await consumer[Symbol.asyncDispose]();
});

it('a step of the wall clock makes no batch look stalled, nor hides one that is', async () => {
  const { consumer, begin, pass, stepWallClock, failures } = await openConsumer();
  const stuck = await begin(0);
  stepWallClock(60 * MINUTE_MS);
  expect(await failures()).toEqual({});
  stepWallClock(-120 * MINUTE_MS);
  pass(2 * MINUTE_MS);
  expect(await failures()).toEqual({ 'consumer books': 'stalled' });
  stuck.commit();
  await stuck.done;
  await consumer[Symbol.asyncDispose]();
});

it('a consumer that neither has an answer nor begins anew is seen', async () => {
  const { consumer, pass, failures, answer } = await openConsumer();
  pass(4 * MINUTE_MS);
  answer();
  pass(4 * MINUTE_MS);
  expect(await failures()).toEqual({});
  pass(2 * MINUTE_MS);
  expect(await failures()).toEqual({ 'consumer books': 'silent' });
  answer();
  expect(await failures()).toEqual({});
  await consumer[Symbol.asyncDispose]();
});

it('a process that only consumes is ready once it has joined, and stays so while Kafka is away', async () => {
  const { consumer, join, crash, unready } = await openConsumer({ readyOnceJoined: true, joins: false });
  expect(Object.keys(await unready())).toEqual(['consumer books']);
  await crash();
  expect(Object.keys(await unready())).toEqual(['consumer books']);
  join([0, 1]);
  expect(await unready()).toEqual({});
  await crash();
  expect(await unready()).toEqual({});
  await consumer[Symbol.asyncDispose]();
});

it('a process that serves others is ready without Kafka', async () => {
  const { consumer, unready } = await openConsumer({ joins: false });
  expect(await unready()).toEqual({});
  await consumer[Symbol.asyncDispose]();
});

it('a member lets go of its partitions before it joins its group again, once what it has in hand is dealt with', async () => {
  const { consumer, begin, handOver, released } = await openConsumer();
  const batch = await begin(0);
  const isHandedOver = vi.fn<() => void>();
  const handedOver = handOver()?.then(isHandedOver);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isHandedOver).not.toHaveBeenCalled();
  batch.commit();
  await Promise.all([batch.done, handedOver]);
  expect(isHandedOver).toHaveBeenCalledTimes(1);
  expect(released).toEqual([`books/${TOPIC}/0`, `books/${TOPIC}/1`]);
  await consumer[Symbol.asyncDispose]();
});
