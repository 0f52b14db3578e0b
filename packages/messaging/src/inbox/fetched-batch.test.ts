import { systemClock } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { createAutoAdvancingClock, ignoreAllEvents } from '@pesewa/testkit';
import { expect, it, vi } from 'vitest';
import {
  consumeBatch,
  type FetchedBatch,
  type FetchedBatchDeps,
  type OwnedPartition,
} from './fetched-batch.ts';
import type { PartitionWorker } from './partition.ts';
import { handleTopic } from './topic-handler.ts';

const place = { topic: 'ledger.events.v1', partition: 3 };

/** A fetched batch of six messages, applied one by one; the test decides when the events of each are in Kafka. */
function openBatch({
  clock = systemClock,
  commit = async () => undefined,
  heartbeat = async () => undefined,
}: {
  readonly clock?: typeof systemClock;
  readonly commit?: () => Promise<void>;
  readonly heartbeat?: () => Promise<void>;
} = {}) {
  const sends: PromiseWithResolvers<void>[] = [];
  const worker: PartitionWorker = {
    next: () => 0n,
    apply: async () => {
      await commit();
      const send = Promise.withResolvers<void>();
      sends.push(send);
      return { sent: send.promise };
    },
  };
  const resolved: string[] = [];
  const progressed = vi.fn<() => void>();
  const payload = {
    batch: { ...place, messages: Array.from({ length: 6 }, (_, offset) => ({ offset: String(offset) })) },
    isRunning: () => true,
    isStale: () => false,
    heartbeat,
    resolveOffset: (offset: string) => void resolved.push(offset),
    progressed,
  } as unknown as FetchedBatch;
  const held: OwnedPartition = {
    place,
    handler: handleTopic('ledger', ignoreAllEvents('ledger'), async () => undefined),
    source: `books/${place.topic}/3`,
    lost: new AbortController(),
    consecutiveParked: { count: 0 },
    worker,
    hasMismatch: false,
  };
  const deps: FetchedBatchDeps = {
    clock,
    logger: createLogger({ name: 'test', level: 'silent' }),
    batchMessagesMax: 1,
    applied: () => undefined,
    stopped: { add: () => undefined, delete: () => undefined, release: () => undefined },
  };
  return { sends, resolved, progressed, done: consumeBatch(deps, held, worker, payload) };
}

it('resolves an offset once the events of all before it are in Kafka, because Kafka may be told of it at any time', async () => {
  const { sends, resolved, done } = openBatch();
  await vi.waitFor(() => expect(sends).toHaveLength(4));
  sends[1]?.resolve();
  sends[2]?.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(resolved).toEqual([]);
  sends[0]?.resolve();
  await vi.waitFor(() => expect(sends).toHaveLength(6));
  expect(resolved).toEqual(['0', '1', '2']);
  for (const { resolve } of sends) resolve();
  await done;
  expect(resolved).toEqual(['0', '1', '2', '3', '4', '5']);
});

it('leaves an offset unresolved whose events are not sent', async () => {
  const { sends, resolved, done } = openBatch();
  await vi.waitFor(() => expect(sends).toHaveLength(4));
  sends[0]?.resolve();
  sends[1]?.reject(new Error('dropped'));
  await expect(done).rejects.toThrow('dropped');
  expect(resolved).toEqual(['0']);
});

it('keeps its place in the group while the database takes long, which does not count as progress', async () => {
  const heartbeat = vi.fn<() => Promise<void>>(async () => undefined);
  const committed = Promise.withResolvers<void>();
  const clock = createAutoAdvancingClock();
  const { sends, progressed, done } = openBatch({ clock, heartbeat, commit: () => committed.promise });
  await vi.waitFor(() => expect(heartbeat.mock.calls.length).toBeGreaterThan(10));
  expect(progressed).not.toHaveBeenCalled();
  committed.resolve();
  await vi.waitFor(() => expect(sends).toHaveLength(4));
  const before = progressed.mock.calls.length;
  // Waiting for Kafka does, because restarting us would not end it.
  await vi.waitFor(() => expect(progressed.mock.calls.length).toBeGreaterThan(before + 2));
  await vi.waitFor(() => {
    for (const { resolve } of sends) resolve();
    expect(sends).toHaveLength(6);
  });
  for (const { resolve } of sends) resolve();
  await done;
});

it('ends with the heartbeat that failed, but not before the transaction in progress has ended', async () => {
  const rebalancing = new Error('the group is rebalancing');
  const heartbeat = vi.fn<() => Promise<void>>().mockResolvedValueOnce().mockRejectedValue(rebalancing);
  const committed = Promise.withResolvers<void>();
  const clock = createAutoAdvancingClock();
  const { sends, done } = openBatch({ clock, heartbeat, commit: () => committed.promise });
  const ended = vi.fn<() => void>();
  const end = done.catch((error: unknown) => {
    ended();
    return error;
  });
  // A refused heartbeat renews the session while the group rebalances, so others follow.
  await vi.waitFor(() => expect(heartbeat.mock.calls.length).toBeGreaterThan(3));
  expect(ended).not.toHaveBeenCalled();
  committed.resolve();
  expect(await end).toBe(rebalancing);
  expect(sends).toHaveLength(1);
});
