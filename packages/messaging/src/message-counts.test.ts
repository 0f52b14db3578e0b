import { systemClock, systemRandom } from '@pesewa/kernel';
import { MongoServerError } from 'mongodb';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { countEmitted } from './message-counts.ts';
import type { OutgoingEvent } from './outbox.ts';
import { createTransact } from './transact.ts';

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
  return { registry, transact: createTransact(deps as unknown as Parameters<typeof createTransact>[0]) };
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
