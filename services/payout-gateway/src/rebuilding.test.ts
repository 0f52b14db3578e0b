import { systemClock } from '@pesewa/kernel';
import type { HistoricalEvent } from '@pesewa/messaging';
import { paymentId } from '@pesewa/payments';
import { createLogger } from '@pesewa/runtime';
import { createAutoAdvancingClock, eventually } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { keyOf } from './acceptance.ts';
import type { RebuiltPayout } from './domain/rebuilt-payout.ts';
import { createHandlers } from './handlers.ts';
import { type RebuildingDeps, startRebuilding } from './rebuilding.ts';

const logger = createLogger({ name: 'test', level: 'silent' });

/** The event of an accepted payout. */
const acceptedEvent = (
  reference: string,
  merchantReference = `inv-${reference}`,
): HistoricalEvent<'payouts'> => ({
  type: 'pesewa.payouts.PayoutAccepted',
  eventId: `ev-${reference}`,
  version: 1n,
  key: 'demo:KES',
  causationId: '',
  traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`,
  payload: {
    eventId: `ev-${reference}`,
    occurredAt: 1_000n,
    reference,
    merchantReference,
    merchantId: 'demo',
    currency: 'KES',
    rail: 'upstream',
    amount: 10_000n,
    fee: 100n,
    country: 'KEN',
    channel: 'Mobile Money',
    bankCode: 'MPESA',
    batchReference: null,
    contentCheck: 'q3Z',
  },
});

/** A database with some payouts, and a topic with others; `fails` is how often Kafka is away or a transaction fails. */
async function world(options: {
  readonly topic: readonly string[];
  readonly records?: readonly string[];
  readonly takenIds?: readonly string[];
  readonly newestMs?: number;
  readonly fails?: { kafka: number; insert: number };
  /** How long ago the database was last known to be whole. */
  readonly wholeMsAgo?: number;
  /** The merchant's reference of all payouts. */
  readonly merchantReference?: string;
}) {
  const records = new Set(options.records ?? []);
  const fails = options.fails ?? { kafka: 0, insert: 0 };
  const since: number[] = [];
  const back: RebuiltPayout[] = [];
  const details: (() => string | undefined)[] = [];
  const newest = { ms: options.newestMs };
  const marks = { set: 0 };
  const messaging = {
    since: async function* (_topic: string, partition: number, timeMs: number) {
      since.push(timeMs);
      if (fails.kafka-- > 0) throw new Error('Kafka is away');
      if (partition === 3)
        yield options.topic.map((reference) => acceptedEvent(reference, options.merchantReference));
    },
    inTransaction: async (work: (transaction: object) => Promise<unknown>) => work({ session: {} }),
  } as unknown as RebuildingDeps['messaging'];
  const rebuilding = await startRebuilding({
    messaging,
    store: {
      newestAcceptedMs: async () => newest.ms,
      findMissing: async (references) => new Set([...references].filter((one) => !records.has(one))),
      findUsedIds: async (keys) =>
        new Set(keys.map(paymentId).filter((id) => options.takenIds?.includes(id))),
      insert: async (payouts) => {
        if (fails.insert-- > 0) throw new Error('another replica was faster');
        for (const payout of payouts) records.add(payout.reference);
        back.push(...(payouts as readonly RebuiltPayout[]));
      },
    },
    completenessMark: {
      set: async () => {
        marks.set += 1;
      },
      isYounger: async (thanMs) => (options.wholeMsAgo ?? Infinity) <= thanMs,
    },
    health: { addDetail: (_name, detail) => void details.push(detail) },
    clock: createAutoAdvancingClock(),
    logger,
  });
  return { rebuilding, since, back, details, newest, marks };
}

const untilComplete = ({ isComplete }: { readonly isComplete: () => boolean }) =>
  eventually(() => expect(isComplete()).toBe(true));

it('brings back what was published and has no record, and nothing else', async () => {
  const { rebuilding, back, since } = await world({
    topic: ['po-1', 'po-2', 'po-2', 'po-3'],
    records: ['po-1'],
    newestMs: 100_000,
  });
  await using _closing = rebuilding;
  await untilComplete(rebuilding);
  expect(back.map(({ reference }) => reference)).toEqual(['po-2', 'po-3']);
  expect(since).toEqual(Array.from({ length: 8 }, () => 70_000));
});

it('reads all of the topic into an empty database', async () => {
  const { rebuilding, since } = await world({ topic: [] });
  await using _closing = rebuilding;
  await untilComplete(rebuilding);
  expect(new Set(since)).toEqual(new Set([0]));
});

it('is not whole while Kafka is away, or while what it brings back is not written', async () => {
  const fails = { kafka: 20, insert: 3 };
  const { rebuilding, back, details } = await world({ topic: ['po-1'], fails });
  await using _closing = rebuilding;
  expect(rebuilding.isComplete()).toBe(false);
  expect(details.map((detail) => detail())).toEqual([expect.stringContaining('no payout is accepted')]);
  await untilComplete(rebuilding);
  expect(fails.insert).toBe(-1);
  expect(back.map(({ reference }) => reference)).toEqual(['po-1']);
  expect(details.map((detail) => detail())).toEqual([undefined]);
});

it('accepts without Kafka in a database that was whole a moment ago, and reads all the same', async () => {
  const away = { kafka: 1_000_000, insert: 0 };
  const old = await world({ topic: [], fails: { ...away }, wholeMsAgo: 30_001 });
  await using _old = old.rebuilding;
  expect(old.rebuilding.isComplete()).toBe(false);
  const { rebuilding, back, details } = await world({ topic: ['po-1'], fails: away, wholeMsAgo: 30_000 });
  await using _closing = rebuilding;
  expect(rebuilding.isComplete()).toBe(true);
  expect(details.map((detail) => detail())).toEqual([undefined]);
  away.kafka = 0;
  await eventually(() => expect(back.map(({ reference }) => reference)).toEqual(['po-1']));
});

it('says that the database is whole once it knows, so that of two replicas of a backup none takes the other for proof', async () => {
  const fails = { kafka: 1_000_000, insert: 0 };
  const { rebuilding, marks, since } = await world({ topic: [], fails });
  await using _closing = rebuilding;
  await eventually(() => expect(since.length).toBeGreaterThan(5));
  expect(marks.set).toBe(0);
  fails.kafka = 0;
  await untilComplete(rebuilding);
  await eventually(() => expect(marks.set).toBeGreaterThan(2));
});

it('reads from the same time on, whatever is accepted until Kafka answers', async () => {
  const fails = { kafka: 20, insert: 0 };
  const { rebuilding, newest, since } = await world({ topic: [], fails, newestMs: 100_000, wholeMsAgo: 0 });
  await using _closing = rebuilding;
  newest.ms = 900_000;
  await eventually(() => expect(since.length).toBeGreaterThan(25));
  expect(new Set(since)).toEqual(new Set([70_000]));
});

it('brings back the first of two payouts with one reference of their merchant, and reports the other', async () => {
  const { rebuilding, back } = await world({ topic: ['po-1', 'po-2'], merchantReference: 'inv-1' });
  await using _closing = rebuilding;
  await untilComplete(rebuilding);
  expect(back.map(({ reference }) => reference)).toEqual(['po-1']);
});

it('leaves a reference to whom the database gives it', async () => {
  const takenIds = [
    paymentId(keyOf({ merchantId: 'demo', order: { merchantReference: 'inv-po-1' } as never })),
  ];
  const { rebuilding, back } = await world({ topic: ['po-1', 'po-2'], takenIds });
  await using _closing = rebuilding;
  await untilComplete(rebuilding);
  expect(back.map(({ reference }) => reference)).toEqual(['po-2']);
});

it('ends with its process, whole or not', async () => {
  const { rebuilding } = await world({ topic: [], fails: { kafka: 1_000_000, insert: 0 } });
  await rebuilding[Symbol.asyncDispose]();
  expect(rebuilding.isComplete()).toBe(false);
});

it('keeps every topic waiting until it is whole', async () => {
  const waiting = new Error('not whole');
  const handlers = createHandlers({
    payouts: { apply: async () => [] },
    store: { findByReferences: async () => [] },
    balances: { apply: async () => undefined },
    clock: systemClock,
    resubmitGraceMs: 0,
    untilComplete: () => Promise.reject(waiting),
    claimDue: (changes) => changes,
    becameDue: () => undefined,
  });
  expect(handlers).toHaveLength(3);
  for (const { beforePartition } of handlers) await expect(beforePartition?.(0)).rejects.toBe(waiting);
});
