import { createLogger } from '@pesewa/runtime';
import { createAutoAdvancingClock } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import {
  groupCommitSource,
  type Outbox,
  type OutboxRecordDocument,
  outboxRecordId,
  packOutboxRecord,
} from './outbox.ts';
import type { Relay } from './relay.ts';
import { startSweeper } from './sweeper.ts';

/** An outbox with outbox records of one process, in their order. */
function openOutbox(owner: string, count: number) {
  const messages = [{ topic: 't', key: 'k', body: Buffer.of(2, 107, 2, 118, 0) }];
  const outboxRecords = Array.from({ length: count }, (_, index) =>
    packOutboxRecord({
      _id: outboxRecordId(groupCommitSource('test', owner), index),
      messages,
      createdAt: new Date(0),
    }),
  );
  const stored = new Map(outboxRecords.map((one) => [one._id, one]));
  const outbox = {
    findOne: async ({ _id }: { readonly _id: { readonly $gte: string } }) =>
      [...stored.values()].find((one) => one._id >= _id.$gte) ?? null,
    find: ({ _id }: { readonly _id: { readonly $in?: readonly string[] } }) => {
      const found = [...stored.values()].filter((one) => _id.$in?.includes(one._id) ?? true);
      const cursor = {
        project: () => cursor,
        sort: () => cursor,
        limit: () => cursor,
        toArray: async () => found,
        [Symbol.asyncIterator]: async function* (): AsyncGenerator<OutboxRecordDocument> {
          yield* found;
        },
      };
      return cursor;
    },
  };
  return { stored, outbox: outbox as unknown as Outbox };
}

it('stops sending what a process has committed once the process says again that it lives', async () => {
  const { stored, outbox } = openOutbox('paused', 30);
  const answered = Promise.withResolvers<void>();
  const paused = { isSilent: true, askedFor: 0 };
  const sent: string[] = [];
  const leases = {
    findOneAndUpdate: async () => ({ owner: 'me' }),
    updateOne: async () => undefined,
    aggregate: () => ({
      toArray: async () => {
        paused.askedFor += 1;
        return [{ until: new Date(0), isOver: paused.isSilent }];
      },
    }),
  };
  const relay: Pick<Relay, 'isPending' | 'send'> = {
    isPending: (id) => !stored.has(id),
    send: async ({ _id }) => {
      sent.push(_id);
      await answered.promise;
      stored.delete(_id);
    },
  };
  const clock = createAutoAdvancingClock();
  await using _sweeper = startSweeper({
    outbox,
    leases: leases as unknown as Parameters<typeof startSweeper>[0]['leases'],
    relay: relay as Relay,
    owner: 'me',
    clock,
    monotonicMs: clock.nowMs,
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  await expect.poll(() => sent).not.toEqual([]);
  paused.isSilent = false;
  answered.resolve();
  const before = paused.askedFor;
  await expect.poll(() => stored.size === 0 || paused.askedFor > before + 20).toBe(true);
  // Only what was read while the process was silent.
  expect(sent).toHaveLength(8);
  expect(stored.size).toBe(22);
});
