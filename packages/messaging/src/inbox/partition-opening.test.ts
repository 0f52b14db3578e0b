import type { PartitionBounds } from '@pesewa/kafka';
import { ignoreAllEvents } from '@pesewa/testkit';
import { expect, it } from 'vitest';
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
  const deps = {
    group: 'books',
    owner: 'me',
    clock: { nowMs: () => clock.ms },
    offsets: {
      findOne: async () => ({ _id: source, next: 7n, topicId: 't-1', owner: 'me', ...cut }),
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
        sent += 1;
      },
    },
  };
  let sent = 0;
  const left: object[] = [];
  const lost = new AbortController();
  const handler = handleTopic('ledger', ignoreAllEvents('ledger'), async () => undefined);
  const opening: AssignedPartition = { place, handler, source, lost };
  /** The write times of the messages from offset 0 on. */
  const writtenMs = Array.from({ length: 7 }, () => 900);
  return {
    clock,
    writtenMs,
    /** Opens the partition once while Kafka's log has these ends; gives the next offset, or why it stops. */
    look: async (high: bigint, low = 0n) => {
      clock.ms += 15_000;
      const bounds: PartitionBounds = { ...place, topicId: 't-1', low, high, committed: 7n };
      const kafka = {
        initialBounds: async () => bounds,
        readBounds: async () => bounds,
        offsetForTime: async (timeMs: number) => {
          const first = writtenMs.slice(0, Number(high)).findIndex((atMs) => atMs >= timeMs);
          return first < 0 ? undefined : BigInt(first);
        },
        commit: async () => undefined,
      };
      try {
        return await openPartition(deps as unknown as PartitionDeps, opening, kafka);
      } catch (error) {
        if (error instanceof PartitionStoppedError) return error.reason;
        throw error;
      }
    },
    noted: () => cut,
    left,
    lost,
    sent: () => sent,
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

it('sends no leftovers once the partition is lost', async () => {
  const { look, left, lost, sent } = openAtSeven();
  left.push({ _id: `${source}/000`, messages: [] });
  lost.abort(new Error('lost'));
  await expect(look(7n)).rejects.toThrow('lost');
  expect(sent()).toBe(0);
});
