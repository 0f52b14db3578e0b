import type { KafkaMessage } from '@pesewa/kafka';
import { ignoreAllEvents } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { RegistryAwayError } from '../schemas/codec.ts';
import { createPartitionWorker, type PartitionDeps } from './partition.ts';
import { PartitionStoppedError } from './stopped-partitions.ts';
import { handleTopic } from './topic-handler.ts';

const FUNDED = 'pesewa.ledger.WalletFunded';

/** A partition over a database that holds only its offset; records the commits. */
function openPartition(discarded: readonly string[] = []) {
  const applied: string[] = [];
  const parked: number[] = [];
  const parkedIds: string[] = [];
  const failures: string[] = [];
  /** When the events of each commit are in Kafka: at once, unless a test says so. */
  const sends: Promise<void>[] = [];
  /** Whether the registry is away whenever an event of this id is handled. */
  const away: boolean[] = [];
  let stored = 0n;
  const deps = {
    group: 'books',
    topicPrefix: '',
    owner: 'me',
    parkedInARowMax: 3,
    logger: {
      info: () => undefined,
      error: ({ offset }: { readonly offset: string }, said: string) =>
        void (said === 'handler failed' && failures.push(offset)),
    },
    parked: () => undefined,
    clock: { nowMs: () => 0 },
    ids: { next: () => 'ev' },
    encoder: { message: () => undefined },
    parkedStore: {
      add: async (
        { offset, eventId }: { readonly offset: bigint; readonly eventId: string },
        { added }: { readonly added: number[] },
      ) => {
        added.push(Number(offset));
        parkedIds.push(eventId);
      },
    },
    offsets: {
      findOneAndUpdate: async (_filter: unknown, { $set }: { readonly $set: { readonly next: bigint } }) => {
        stored = $set.next;
        return { discarded };
      },
    },
    codec: { decodeKnown: (bytes: Buffer) => ({ type: FUNDED, payload: { eventId: bytes.toString() } }) },
    transact: async (_name: string, _origin: unknown, work: (transaction: unknown) => Promise<unknown>) => {
      const before = stored;
      const actions: (() => void)[] = [];
      const afterCommit = (action: () => void) => void actions.push(action);
      const added: number[] = [];
      try {
        const value = await work({ afterCommit, session: { added }, send: () => undefined });
        parked.push(...added);
        for (const action of actions) action();
        return { value, sent: sends.shift() ?? Promise.resolve() };
      } catch (error) {
        stored = before;
        throw error;
      }
    },
  };
  const handling = { ...ignoreAllEvents('ledger'), [FUNDED]: 'handled' } as const;
  const handler = handleTopic('ledger', handling, async (events, { afterCommit, park }) => {
    if (events.some(({ eventId }) => eventId === 'away') && away.shift()) throw new RegistryAwayError('away');
    if (events.some(({ eventId }) => eventId.startsWith('bad'))) throw new TypeError('not this one');
    const early = events.findIndex(({ eventId }) => eventId.startsWith('early'));
    if (early >= 0) park(early, 'too early');
    const fit = events.filter((_, index) => index !== early);
    afterCommit(() => applied.push(...fit.map(({ eventId }) => eventId)));
    return Promise.resolve();
  });
  const row = { count: 0 };
  const openWorker = () => createPartitionWorker(deps as unknown as PartitionDeps, handler, 3, stored, row);
  const lists = { applied, parked, parkedIds, failures, sends, away };
  return { worker: openWorker(), openWorker, ...lists, position: () => stored };
}

const message = (offset: number, eventType = FUNDED, value = `n-${offset}`, more = {}): KafkaMessage => ({
  timestamp: '0',
  attributes: 0,
  key: Buffer.from('k'),
  offset: String(offset),
  value: value === '' ? null : Buffer.from(value),
  headers: { 'event-type': eventType, ...more },
});

const messagesOf = (count: number, change: Readonly<Record<number, string>> = {}): readonly KafkaMessage[] =>
  Array.from({ length: count }, (_, offset) => message(offset, change[offset]));

/** Messages from a line of signs: `.` is applied, `x` makes the handler fail, `0` is empty, `-` is ignored. */
const messagesFrom = (signs: string, first = 0): readonly KafkaMessage[] =>
  signs.split('').map((sign, index) => {
    const offset = first + index;
    if (sign === '-') return message(offset, 'pesewa.ledger.HoldPlaced');
    return message(offset, FUNDED, sign === 'x' ? `bad-${offset}` : sign === '0' ? '' : undefined);
  });

it('a type that this version does not know stops its partition: what is before it is applied, nothing behind it', async () => {
  const { worker, applied, position } = openPartition();
  const messages = messagesOf(9, { 5: 'pesewa.ledger.WalletSplit' });
  for (const _ of ['first', 'again']) {
    const stopped: unknown = await worker.apply(messages).catch((error: unknown) => error);
    expect(stopped).toBeInstanceOf(PartitionStoppedError);
    expect(stopped).toMatchObject({
      reason:
        'ledger.events.v1, partition 3, offset 5: this version does not know the type pesewa.ledger.WalletSplit',
      remedy: 'deploy a version of books that knows it',
    });
    expect(applied).toEqual(['n-0', 'n-1', 'n-2', 'n-3', 'n-4']);
    expect(position()).toBe(5n);
  }
});

it('a row of parked messages stops its partition: the fault is ours, and the next one is not parked', async () => {
  const { worker, applied, parked, failures, position } = openPartition();
  // Three in a row are parked; an applied message begins the count anew.
  await worker.apply(messagesFrom('.x0x.x'));
  expect(parked).toEqual([1, 2, 3, 5]);
  // The count goes on across batches and across ignored messages.
  const batch = messagesFrom('-0-xx..', 6);
  for (const _ of ['first', 'again']) {
    const stopped: unknown = await worker.apply(batch).catch((error: unknown) => error);
    expect(stopped).toBeInstanceOf(PartitionStoppedError);
    expect(stopped).toMatchObject({
      reason: expect.stringContaining('partition 3, offset 10: 3 messages in a row were parked') as unknown,
      remedy: expect.stringContaining('pesewa parked list --service books') as unknown,
    });
    expect(parked).toEqual([1, 2, 3, 5, 7, 9]);
    expect(position()).toBe(10n);
  }
  expect(applied).toEqual(['n-0', 'n-4']);
  expect(failures).toEqual(['1', '3', '5', '9', '10']);
});

it('a row goes on in the worker that looks again: it parks nothing more, until something is applied', async () => {
  const { worker, openWorker, applied, parked } = openPartition();
  await worker.apply(messagesFrom('xxxx')).catch(() => undefined);
  expect(parked).toEqual([0, 1, 2]);
  const again = openWorker();
  await expect(again.apply(messagesFrom('x', 3))).rejects.toBeInstanceOf(PartitionStoppedError);
  expect(parked).toEqual([0, 1, 2]);
  const repaired = openWorker();
  await repaired.apply(messagesFrom('.x', 3));
  expect([applied, parked]).toEqual([['n-3'], [0, 1, 2, 4]]);
});

it('an event that was published again stands beside itself in a batch: what is parked of the two is the one alone', async () => {
  const { worker, applied, parked } = openPartition();
  await worker.apply(
    messagesOf(4, {}).map((one, offset) => (offset % 2 ? message(offset, FUNDED, 'early') : one)),
  );
  expect(parked).toEqual([1]);
  expect(applied).toEqual(['n-0', 'n-2', 'early']);
});

it('a discarded event that is published again has no effect and is not parked again', async () => {
  const { worker, applied, parked, position } = openPartition(['n-1', 'bad-2']);
  await worker.apply(messagesFrom('..x.'));
  expect(applied).toEqual(['n-0', 'n-3']);
  expect(parked).toEqual([]);
  expect(position()).toBe(4n);
});

it('a parked message has the id of the event that it was read as, and none if it is unreadable', async () => {
  const { worker, parkedIds } = openPartition();
  await worker.apply([message(0, FUNDED, 'bad-0')]);
  await worker.apply([message(1, FUNDED, '', { 'event-id': 'n-1' })]);
  await worker.apply([message(2, FUNDED, 'early')]);
  expect(parkedIds).toEqual(['bad-0', '', 'early']);
});

it('its events are all in Kafka only once those of a half are that was committed before the other half failed', async () => {
  const { worker, parked, sends, away, position } = openPartition();
  const first = Promise.withResolvers<void>();
  sends.push(first.promise);
  away.push(false, true);
  const batch = [message(0), message(1), message(2, FUNDED, 'away'), message(3, FUNDED, 'bad-3')];
  await expect(worker.apply(batch)).rejects.toBeInstanceOf(RegistryAwayError);
  expect(position()).toBe(2n);
  const { sent } = await worker.apply(batch);
  expect([position(), parked]).toEqual([4n, [3]]);
  const nothingLeft = await worker.apply(batch);
  for (const promise of [sent, nothingLeft.sent])
    expect(await Promise.race([promise, Promise.resolve('waits')])).toBe('waits');
  first.resolve();
  await Promise.all([sent, nothingLeft.sent]);
});
