import type { PartitionBounds } from '@pesewa/kafka';
import { ignoreAllEvents } from '@pesewa/testkit';
import type { FindOptions } from 'mongodb';
import { expect, it } from 'vitest';
import { LATEST } from '../database/mongo.ts';
import { type OutboxRecordDocument, outboxRecordId, packOutboxRecord } from '../outbox/outbox.ts';
import type { PartitionDeps } from './partition.ts';
import { type AssignedPartition, openPartition } from './partition-opening.ts';
import { PartitionStoppedError } from './stopped-partitions.ts';
import { handleTopic } from './topic-handler.ts';

const place = { topic: 'ledger.events.v1', partition: 3 };
const source = `books/${place.topic}/3`;

/**
 * A partition whose database is at offset 7. The test decides where Kafka's log ends and when its messages were
 * written.
 */
function openAtSeven() {
  const clock = { ms: 1_000 };
  let cut: object = {};
  let committed = 7n;
  /** What a primary knows a majority to have, which may be less right after its election. */
  let known = 7n;
  /** What was sent and what the group committed, in order. */
  const done: string[] = [];
  const left: OutboxRecordDocument[] = [];
  const deps = {
    group: 'books',
    owner: 'me',
    clock: { nowMs: () => clock.ms },
    offsets: {
      findOne: async (_filter: unknown, options?: FindOptions) => {
        const next = options?.readConcern === LATEST.readConcern ? 7n : known;
        return { _id: source, next, topicId: 't-1', owner: 'me', ...cut };
      },
      updateOne: async (_filter: unknown, { $set = {} }: { readonly $set?: object }) => {
        cut = $set;
      },
    },
    outbox: {
      find: () => ({ sort: () => left }),
      findOne: async () => left.at(0) ?? null,
    },
    relay: {
      isPending: () => false,
      send: async () => {
        done.push('sent');
        left.length = 0;
      },
    },
  };
  const lost = new AbortController();
  const handler = handleTopic('ledger', ignoreAllEvents('ledger'), async () => undefined);
  const opening: AssignedPartition = { place, handler, source, lost };
  /** The write times of the messages from offset 0 on. */
  const writtenMs = Array.from({ length: 7 }, () => 900);
  return {
    clock,
    writtenMs,
    /** Opens the partition once while Kafka's log has these ends; gives the next offset, or why it stops. */
    look: async (high: bigint, low = 0n, topicId = 't-1') => {
      clock.ms += 15_000;
      const readBounds = async (): Promise<PartitionBounds> => ({ ...place, topicId, low, high, committed });
      const kafka = {
        initialBounds: readBounds,
        readBounds,
        offsetForTime: async (timeMs: number) => {
          const first = writtenMs.slice(0, Number(high)).findIndex((atMs) => atMs >= timeMs);
          return first < 0 ? undefined : BigInt(first);
        },
        commit: async (next: bigint) => {
          done.push(`committed ${next}`);
          committed = next;
        },
      };
      try {
        return await openPartition(deps as unknown as PartitionDeps, opening, kafka);
      } catch (error) {
        if (error instanceof PartitionStoppedError) return error.reason;
        throw error;
      }
    },
    noted: () => cut,
    /** Gives the partition an outbox record that its earlier owner had not sent. */
    leave: () =>
      left.push(
        packOutboxRecord({
          _id: outboxRecordId(source, 7),
          messages: [{ topic: 't', key: 'k', body: Buffer.of(2, 107, 2, 118, 0) }],
          createdAt: new Date(0),
        }),
      ),
    /** As an operator does who accepts that the group had come further than the database. */
    accept: (acceptedCommitted: bigint) => {
      cut = { acceptedCommitted };
      committed = acceptedCommitted;
    },
    /** As if the group had come further than the database. */
    commitAhead: (next: bigint) => {
      committed = next;
    },
    /** As if a new primary did not know yet that a majority has the newest position. */
    elect: () => {
      known = 6n;
    },
    lost,
    done,
  };
}

const GONE = 'Kafka ended at 5, but 7 is to come next: its log was truncated';

it('an end that a new leader does not know of yet stops a partition for as long as it does not', async () => {
  const { clock, writtenMs, look, noted } = openAtSeven();
  for (let looks = 0; looks < 9; looks += 1) expect(await look(5n)).toBe(GONE);
  expect(noted()).toMatchObject({ truncatedAt: 5n });
  // The message at the next offset may have been written meanwhile.
  writtenMs.push(clock.ms);
  expect(await look(8n)).toBe(7n);
  expect(noted()).toEqual({});
});

it('an end that grew past the next offset between two checks is gone, and reported in the same words', async () => {
  const { clock, writtenMs, look } = openAtSeven();
  expect(await look(5n)).toBe(GONE);
  clock.ms += 1;
  for (const offset of [5, 6, 7]) writtenMs[offset] = clock.ms;
  expect(await look(8n)).toBe(GONE);
  expect(await look(9n)).toBe(GONE);
});

it('an end that grows up to what comes next is gone', async () => {
  const { clock, writtenMs, look } = openAtSeven();
  expect(await look(5n)).toBe(GONE);
  // The first message may carry the time of a clock that is behind ours.
  writtenMs[6] = clock.ms;
  expect(await look(7n)).toBe(GONE);
});

it('an end that was gone stays gone where Kafka no longer keeps what was written there since', async () => {
  const { look } = openAtSeven();
  expect(await look(5n)).toBe(GONE);
  expect(await look(9n, 7n)).toBe(GONE);
});

it('a new primary that does not know the newest position yet is not taken for a restored database', async () => {
  const { look, elect } = openAtSeven();
  elect();
  expect(await look(9n)).toBe(7n);
});

it('sends no leftovers once the partition is lost', async () => {
  const { look, leave, lost, done } = openAtSeven();
  leave();
  lost.abort(new Error('lost'));
  await expect(look(7n)).rejects.toThrow('lost');
  expect(done).toEqual([]);
});

it('sends leftovers before the group commits a realigned position: what is committed counts as sent', async () => {
  const { look, leave, accept, done } = openAtSeven();
  leave();
  accept(9n);
  expect(await look(9n)).toBe(7n);
  expect(done).toEqual(['sent', 'committed 7']);
});

it('sends leftovers though only people can decide how a partition goes on', async () => {
  const { look, leave, done } = openAtSeven();
  leave();
  expect(await look(9n, 0n, 't-2')).toContain('created again');
  expect(done).toEqual(['sent']);
});

it('does not send again what a restored database has left, which was sent before its group committed more', async () => {
  const { look, leave, commitAhead, done } = openAtSeven();
  leave();
  commitAhead(9n);
  expect(await look(9n)).toContain('it is an older one');
  expect(done).toEqual([]);
});
