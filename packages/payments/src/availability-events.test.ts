import { systemClock } from '@pesewa/kernel';
import type { OutgoingEvent, Transaction } from '@pesewa/messaging';
import { createLogger } from '@pesewa/runtime';
import { Hono } from 'hono';
import type { Db } from 'mongodb';
import { expect, it } from 'vitest';
import { ENDED_MIN } from './availability.ts';
import { createAvailabilityEvents } from './availability-events.ts';
import { addAvailability } from './availability-store.ts';

const nowMs = Date.UTC(2026, 10, 27, 12);
const SECOND_MS = 1_000;

/** A replica's messaging whose lease is asked for by `takeLease`, and the statuses that it emitted. */
function replica(
  takeLease: () => Promise<boolean>,
  payments: () => Promise<readonly object[]> = async () => [],
) {
  const emitted: OutgoingEvent[] = [];
  const emit = (event: OutgoingEvent) => void emitted.push(event);
  const inTransaction = <Value>(work: (transaction: Transaction) => Promise<Value>) =>
    work({ emit } as unknown as Transaction);
  const ended: string[] = [];
  const leases = {
    findOneAndUpdate: async () => ({ owner: (await takeLease()) ? 'one' : 'two' }),
    updateOne: async ({ _id }: { readonly _id: string }) => void ended.push(_id),
  };
  const none = { sort: () => none, limit: () => none, project: () => ({ toArray: async () => [] }) };
  const payouts = { aggregate: () => ({ toArray: payments }), find: () => none };
  const db = { collection: (name: string) => (name === 'leases' ? leases : payouts) } as unknown as Db;
  return { messaging: { db, owner: 'one', inTransaction }, emitted, ended };
}

const rail = { rail: 'upstream', operatorCode: null, status: 'OPERATIONAL' } as const;
const now = [{ ...rail, measured: { successRate: null, medianMs: null, p95Ms: null } }];

it.each([
  ['does not know whether it still publishes', 60, () => Promise.reject(new Error('no primary'))],
  ['no longer publishes', 60, async () => false],
  ['was silent for longer than its lease', 130, undefined],
])('a replica that %s publishes all anew, as others may have meanwhile', async (_, seconds, between) => {
  const answers = [async () => true, ...(between ? [between] : []), async () => true];
  const { messaging, emitted } = replica(() => (answers.shift() as () => Promise<boolean>)());
  const publish = createAvailabilityEvents(messaging, 'payout');
  await publish(now, nowMs);
  if (between) await publish(now, nowMs + 30 * SECOND_MS).catch(() => undefined);
  expect(emitted).toHaveLength(1);
  await publish(now, nowMs + seconds * SECOND_MS);
  expect(emitted).toHaveLength(2);
});

it('all is published anew every ten minutes, so that what came out of its order does not stay the last', async () => {
  const { messaging, emitted } = replica(async () => true);
  const publish = createAvailabilityEvents(messaging, 'payout');
  for (let seconds = 0; seconds <= 1_200; seconds += 30) await publish(now, nowMs + seconds * SECOND_MS);
  expect(emitted.map(({ version }) => (Number(version) - nowMs) / SECOND_MS)).toEqual([0, 600, 1_200]);
});

/** What a gateway publishes of its rail in its first round, and the leases that it ends. */
async function published(payments: () => Promise<readonly object[]>) {
  const { messaging, emitted, ended } = replica(async () => true, payments);
  const logger = createLogger({ name: 'test', level: 'silent' });
  {
    await using scope = new AsyncDisposableStack();
    const open = async <Opened>(_name: string, opened: Opened | Promise<Opened>) =>
      scope.use((await opened) as Opened & AsyncDisposable);
    await addAvailability(
      { open, operator: new Hono(), clock: { ...systemClock, nowMs: () => nowMs }, logger },
      { messaging, collection: 'payouts', prefix: 'po', isPaused: () => false },
      { operators: [{ rail: { name: 'upstream', isAvailable: () => false } }], merchants: [] },
    );
    await expect.poll(() => emitted).toHaveLength(1);
  }
  return { payload: emitted[0]?.payload, ended };
}

const paid = (merchants: number) =>
  Array.from({ length: ENDED_MIN }, (_, index) => ({
    rail: 'upstream',
    merchantId: `m-${index % merchants}`,
    status: 'COMPLETED',
    attempts: 1,
    acceptedAt: new Date(nowMs - SECOND_MS),
    endedAt: new Date(nowMs),
    slice: 0,
  }));

it.each([
  ['tells no figures of a few merchants', async () => paid(2), { successPermille: null, medianMs: null }],
  ['tells those of several', async () => paid(3), { successPermille: 1_000, medianMs: 1_000n }],
  [
    'tells the status where payments can not be read',
    () => Promise.reject(new Error('too slow')),
    { successPermille: null },
  ],
])('an event %s', async (_, payments, told) => {
  const { payload } = await published(payments);
  expect(payload).toMatchObject({ rail: 'upstream', operatorCode: null, status: 'DELAYED', ...told });
});

it('a replica that ends lets another publish at once', async () => {
  expect((await published(async () => [])).ended).toEqual(['availability']);
});
