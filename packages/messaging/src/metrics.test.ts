import type { PartitionBounds } from '@pesewa/kafka';
import { systemClock, systemRandom } from '@pesewa/kernel';
import { MongoServerError } from 'mongodb';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { countEmitted, gaugeLag } from './metrics.ts';
import type { OutgoingEvent } from './outbox/outbox.ts';
import { createTransact, createTransactAll } from './outbox/transact.ts';

const bounds = (partition: number, changes: Partial<PartitionBounds> = {}): PartitionBounds => ({
  topic: 'ledger.events.v1',
  partition,
  topicId: 't-1',
  low: 10n,
  high: 100n,
  committed: undefined,
  ...changes,
});

function openGauge(read: (places: readonly unknown[]) => Promise<readonly PartitionBounds[]>) {
  const registry = new Registry();
  const positions = { bounds: (_group: string, places: readonly unknown[]) => read(places) };
  const followed = gaugeLag({ positions, group: 'books', registry, clock: systemClock });
  return { registry, followed };
}

it('adds up what waits in the partitions of this process: from where it goes on, or else from what the group has committed', async () => {
  const all = [
    bounds(0),
    bounds(1, { committed: 95n }),
    bounds(2, { committed: 50n }),
    bounds(3, { committed: 5n }),
  ];
  const { registry, followed } = openGauge(async (places) => all.slice(0, places.length));
  const nexts = [98n, undefined, 100n, undefined];
  for (const [index, place] of all.entries()) followed.follow(place, () => nexts[index]);
  expect(await registry.metrics()).toContain('consumer_lag_messages{topic="ledger.events.v1"} 97');
  for (const place of all) followed.release(place);
  expect(await registry.metrics()).not.toContain('consumer_lag_messages{');
});

it('has no value if Kafka does not answer', async () => {
  const { registry, followed } = openGauge(() => Promise.reject(new Error('away')));
  followed.follow(bounds(0), () => 1n);
  const text = await registry.metrics();
  expect(text).toContain('# TYPE consumer_lag_messages gauge');
  expect(text).not.toContain('consumer_lag_messages{');
});

/** A `transact` whose first commit meets a conflict. */
function openTransact() {
  const registry = new Registry();
  const errorLabels = ['TransientTransactionError'];
  const conflicts = [new MongoServerError({ code: 112, message: 'conflict', errorLabels })];
  const session = {
    startTransaction: () => undefined,
    inTransaction: () => false,
    commitTransaction: async () => {
      const conflict = conflicts.shift();
      if (conflict) throw conflict;
    },
  };
  const deps = {
    clock: { ...systemClock, sleep: async () => undefined },
    random: systemRandom,
    crashPoint: () => undefined,
    client: { withSession: (work: (of: typeof session) => unknown) => work(session) },
    outbox: { insertMany: async () => undefined },
    relay: { send: async () => undefined },
    encoder: { event: () => ({ topic: 't', key: 'k', body: Buffer.from('body') }) },
    emitted: countEmitted(registry),
  };
  return {
    registry,
    transact: createTransact(createTransactAll(deps as unknown as Parameters<typeof createTransactAll>[0])),
  };
}

it('events count once they are committed, and once however often the transaction ran', async () => {
  const { registry, transact } = openTransact();
  const event = (type: string) => ({ type }) as OutgoingEvent;
  await transact('test', { source: 'test', sequence: 1 }, async ({ emit }) => {
    for (const type of ['accepted', 'completed', 'accepted']) emit(event(type));
  });
  const broken = transact('test', { source: 'test', sequence: 2 }, async ({ emit }) => {
    emit(event('accepted'));
    throw new Error('broken');
  });
  await expect(broken).rejects.toThrow('broken');
  const text = await registry.metrics();
  expect(text).toContain('events_emitted_total{type="accepted"} 2');
  expect(text).toContain('events_emitted_total{type="completed"} 1');
});
