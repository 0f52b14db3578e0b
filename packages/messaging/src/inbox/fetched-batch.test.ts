import type { EachBatchPayload } from '@pesewa/kafka';
import { systemClock } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { ignoreAllEvents } from '@pesewa/testkit';
import { expect, it, vi } from 'vitest';
import { consumeBatch, type FetchedBatchDeps, type OwnedPartition } from './fetched-batch.ts';
import type { PartitionWorker } from './partition.ts';
import { handleTopic } from './topic-handler.ts';

const place = { topic: 'ledger.events.v1', partition: 3 };

/** A fetched batch of six messages, applied one by one; the test decides when the events of each are in Kafka. */
function openBatch() {
  const sends: PromiseWithResolvers<void>[] = [];
  const worker: PartitionWorker = {
    next: () => 0n,
    apply: async () => {
      const send = Promise.withResolvers<void>();
      sends.push(send);
      return { sent: send.promise };
    },
  };
  const resolved: string[] = [];
  const payload = {
    batch: { ...place, messages: Array.from({ length: 6 }, (_, offset) => ({ offset: String(offset) })) },
    isRunning: () => true,
    isStale: () => false,
    heartbeat: async () => undefined,
    resolveOffset: (offset: string) => void resolved.push(offset),
  } as unknown as EachBatchPayload;
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
    clock: systemClock,
    logger: createLogger({ name: 'test', level: 'silent' }),
    batchMessagesMax: 1,
    applied: () => undefined,
    stopped: { add: () => undefined, delete: () => undefined, release: () => undefined },
  };
  return { sends, resolved, done: consumeBatch(deps, held, worker, payload) };
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
