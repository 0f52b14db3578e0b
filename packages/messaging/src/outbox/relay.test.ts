import { systemClock } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { eventually } from '@pesewa/testkit';
import type { FindOptions } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { LATEST } from '../database/mongo.ts';
import {
  groupCommitSource,
  type Outbox,
  type OutboxRecord,
  type OutboxRecordDocument,
  outboxRecordId,
  packOutboxRecord,
  sourceOf,
} from './outbox.ts';
import { openRelay } from './relay.ts';

const MIB = Buffer.alloc(1_024 * 1_024);

function outboxRecord(source: string, sequence: number): OutboxRecord {
  const messages = [{ topic: 't', key: 'k', body: MIB }];
  return { _id: outboxRecordId(source, sequence), messages, createdAt: new Date(0) };
}

it('keeps in memory what fits, reads the rest again in its turn, and never holds a partition back', async () => {
  const gate = Promise.withResolvers<void>();
  const sources: string[] = [];
  const stored = new Map<string, OutboxRecordDocument>();
  const outbox = {
    deleteMany: async ({ _id }: { readonly _id: { readonly $in: readonly string[] } }) => {
      for (const id of _id.$in) stored.delete(id);
    },
    find: ({ _id }: { readonly _id: { readonly $in: readonly string[] } }) => ({
      toArray: async () => _id.$in.flatMap((id) => stored.get(id) ?? []),
    }),
  };
  await using relay = openRelay({
    producer: {
      produce: async ({ source, records }) => {
        sources.push(`${source} ${records.length}`);
        await gate.promise;
      },
      drop: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    },
    outbox: outbox as unknown as Outbox,
    clock: systemClock,
    logger: createLogger({ name: 'test', level: 'silent' }),
    crashPoint: () => undefined,
  });
  const commits = Array.from({ length: 80 }, (_, index) =>
    outboxRecord(groupCommitSource('test', 'me'), index),
  );
  for (const commit of commits) stored.set(commit._id, packOutboxRecord(commit));
  for (const commit of commits) void relay.send(commit);
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.length).toBeLessThan(commits.length);
  expect(commits.every(({ _id }) => relay.isPending(_id))).toBe(true);
  const own = outboxRecord('group/topic/0', 1);
  void relay.send(own);
  expect(sources.at(-1)).toBe('group/topic/0 1');
  gate.resolve();
  await eventually(() => expect(stored.size).toBe(0));
  expect(sources).toHaveLength(commits.length + 1);
});

it('removes outbox records in the order of their source, so that none is sent again after a newer one', async () => {
  const first = Promise.withResolvers<void>();
  const removed: string[] = [];
  await using relay = openRelay({
    producer: {
      produce: async ({ records }) => (records[0]?.key === 'slow' ? first.promise : undefined),
      drop: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    },
    outbox: {
      deleteMany: async ({ _id }: { readonly _id: { readonly $in: readonly string[] } }) =>
        void removed.push(..._id.$in),
    } as unknown as Outbox,
    clock: systemClock,
    logger: createLogger({ name: 'test', level: 'silent' }),
    crashPoint: () => undefined,
  });
  const slow = {
    ...outboxRecord('group/topic/0', 1),
    messages: [{ topic: 't', key: 'slow', body: Buffer.of(1) }],
  };
  const sent = relay.send(slow);
  await relay.send(outboxRecord('group/topic/0', 2));
  await relay.send(outboxRecord('group/topic/1', 1));
  await eventually(() => expect(removed).toEqual([outboxRecordId('group/topic/1', 1)]));
  first.resolve();
  await sent;
  await eventually(() => expect(removed.slice(1)).toEqual([slow._id, outboxRecordId('group/topic/0', 2)]));
});

it('sends what is new behind what waits to be read again, though there is room by then', async () => {
  const outboxRecords = [1, 2, 3, 4].map((sequence) =>
    outboxRecord(groupCommitSource('test', 'me'), sequence),
  );
  const stored = new Map(outboxRecords.map((one) => [one._id, packOutboxRecord(one)]));
  const first = Promise.withResolvers<void>();
  const reading = Promise.withResolvers<void>();
  const sent: string[] = [];
  const removed: string[] = [];
  await using relay = openRelay({
    producer: {
      produce: async () => {
        sent.push('an outbox record');
        if (sent.length === 1) await first.promise;
      },
      drop: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    },
    outbox: {
      deleteMany: async ({ _id }: { readonly _id: { readonly $in: readonly string[] } }) => {
        for (const id of _id.$in) {
          stored.delete(id);
          removed.push(id);
        }
      },
      find: ({ _id }: { readonly _id: { readonly $in: readonly string[] } }) => ({
        toArray: async () => {
          await reading.promise;
          return _id.$in.flatMap((id) => stored.get(id) ?? []);
        },
      }),
    } as unknown as Outbox,
    clock: systemClock,
    logger: createLogger({ name: 'test', level: 'silent' }),
    crashPoint: () => undefined,
    bytesWaitingMax: 1,
  });
  const [one, two, three, four] = outboxRecords;
  if (!one || !two || !three || !four) throw new Error('no outbox records');
  const firstSent = relay.send(one);
  await relay.send(two);
  await relay.send(three);
  expect(relay.oldestPendingSinceMs()).toBeTypeOf('number');
  first.resolve();
  await firstSent;
  // The second and the third outbox record are still being read.
  await relay.send(four);
  expect(sent).toHaveLength(1);
  reading.resolve();
  await eventually(() => expect(removed).toEqual(outboxRecords.map(({ _id }) => _id)));
  expect(relay.oldestPendingSinceMs()).toBeUndefined();
});

it('keeps the order though a new primary does not know yet that a majority has what waits', async () => {
  const outboxRecords = [1, 2, 3].map((sequence) => outboxRecord(groupCommitSource('test', 'me'), sequence));
  const stored = new Map(outboxRecords.map((one) => [one._id, packOutboxRecord(one)]));
  const [one, two, three] = outboxRecords;
  if (!one || !two || !three) throw new Error('no outbox records');
  const first = Promise.withResolvers<void>();
  const removed: string[] = [];
  let finds = 0;
  await using relay = openRelay({
    producer: {
      produce: async () => first.promise,
      drop: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    },
    outbox: {
      deleteMany: async ({ _id }: { readonly _id: { readonly $in: readonly string[] } }) => {
        for (const id of _id.$in) {
          stored.delete(id);
          removed.push(id);
        }
      },
      find: ({ _id }: { readonly _id: { readonly $in: readonly string[] } }, options?: FindOptions) => ({
        toArray: async () => {
          finds += 1;
          const isStale = finds === 1 && options?.readConcern !== LATEST.readConcern;
          return isStale ? [] : _id.$in.flatMap((id) => stored.get(id) ?? []);
        },
      }),
    } as unknown as Outbox,
    clock: systemClock,
    logger: createLogger({ name: 'test', level: 'silent' }),
    crashPoint: () => undefined,
    bytesWaitingMax: 1,
  });
  void relay.send(one);
  await relay.send(two);
  await relay.send(three);
  first.resolve();
  await eventually(() => expect(removed).toEqual(outboxRecords.map(({ _id }) => _id)));
});

it('sends what may have been committed before what is newer, if it was', async () => {
  const outboxRecords = [1, 2, 3].map((sequence) =>
    outboxRecord(groupCommitSource(`test-${sequence}`, 'me'), sequence),
  );
  const [committed, never, newer] = outboxRecords;
  if (!committed || !never || !newer) throw new Error('no outbox records');
  const stored = new Map([committed, newer].map((one) => [one._id, packOutboxRecord(one)]));
  const sent: string[] = [];
  await using relay = openRelay({
    producer: {
      produce: async ({ source }) => void sent.push(source),
      drop: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    },
    outbox: {
      deleteMany: async ({ _id }: { readonly _id: { readonly $in: readonly string[] } }) => {
        for (const id of _id.$in) stored.delete(id);
      },
      find: ({ _id }: { readonly _id: { readonly $in: readonly string[] } }) => ({
        toArray: async () => _id.$in.flatMap((id) => stored.get(id) ?? []),
      }),
    } as unknown as Outbox,
    clock: systemClock,
    logger: createLogger({ name: 'test', level: 'silent' }),
    crashPoint: () => undefined,
  });
  relay.sendIfCommitted([committed._id, never._id]);
  expect(relay.isPending(committed._id)).toBe(true);
  await relay.send(newer);
  await eventually(() => expect(stored.size).toBe(0));
  expect(sent).toEqual([committed, newer].map(({ _id }) => sourceOf(_id)));
  expect(relay.isPending(never._id)).toBe(false);
});

it('does not say that it has sent what it was given after it was closed', async () => {
  const relay = openRelay({
    producer: {
      produce: async () => undefined,
      drop: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    },
    outbox: {} as Outbox,
    clock: systemClock,
    logger: createLogger({ name: 'test', level: 'silent' }),
    crashPoint: () => undefined,
  });
  await relay[Symbol.asyncDispose]();
  const isSent = vi.fn<() => void>();
  void relay.send(outboxRecord('group/topic/0', 1)).then(isSent);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isSent).not.toHaveBeenCalled();
});
