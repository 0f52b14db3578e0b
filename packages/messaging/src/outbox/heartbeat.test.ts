import { sleepless, systemClock } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { createAutoAdvancingClock } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { groupCommitSource, type Outbox, type OutboxRecord, outboxRecordId } from './outbox.ts';
import { createOwnership } from './ownership.ts';
import { openRelay } from './relay.ts';
import { type HeartbeatDeps, startHeartbeat } from './sweeper.ts';

const logger = createLogger({ name: 'test', level: 'silent' });

/** The presence of a process; the test controls its clocks and its database, which has its lease until a time by the monotonic one. */
async function openPresence(isRecovering = false) {
  const monotonic = { ms: 1_000 };
  const wall = { ms: 0 };
  const database: {
    answers: Promise<void>;
    ended?: unknown;
    repair?: object;
    untilMs?: number | undefined;
    beforeLock?: () => void;
  } = { answers: Promise.resolve() };
  const aborted = Promise.withResolvers<Error>();
  const ownership = createOwnership(
    'me',
    sleepless({ nowMs: () => wall.ms }, () => monotonic.ms),
  );
  const leases = {
    deleteMany: async () => undefined,
    findOneAndUpdate: async (
      { until }: { readonly until?: { readonly $gte: Date } },
      _update: unknown,
      { upsert }: { readonly upsert: boolean },
    ) => {
      await database.answers;
      const { untilMs = -1 } = database;
      if (!upsert && untilMs < (until?.$gte.getTime() ?? 0)) return null;
      database.untilMs = monotonic.ms + 5_000;
      return { owner: 'me', until: new Date(database.untilMs) };
    },
    findOne: async () => {
      database.beforeLock?.();
      return database.repair ?? null;
    },
    updateOne: async (lease: unknown) => {
      database.ended = lease;
    },
  };
  const presence = await startHeartbeat({
    leases: leases as unknown as HeartbeatDeps['leases'],
    owner: 'me',
    clock: createAutoAdvancingClock(),
    logger,
    ownership,
    abort: aborted.resolve,
    isRecovering,
  });
  const { maySend, isAlive } = ownership;
  return { presence, monotonic, wall, database, maySend, isAlive, aborted: aborted.promise };
}

const own = groupCommitSource('test', 'me');

/** A relay whose producer sends when the test lets it, if `maySend` still allows it then. */
function openGatedRelay(maySend: (source: string) => boolean) {
  const sent: string[] = [];
  let waiting: { readonly source: string; readonly id: string; readonly done: () => void }[] = [];
  const relay = openRelay({
    producer: {
      produce: ({ source, records }) =>
        new Promise((done) => void waiting.push({ source, id: records[0]?.key ?? '', done })),
      drop: async (source) => {
        waiting = waiting.filter((one) => one.source !== source);
      },
      [Symbol.asyncDispose]: async () => undefined,
    },
    outbox: { deleteMany: async () => undefined } as unknown as Outbox,
    clock: systemClock,
    logger,
    crashPoint: () => undefined,
  });
  return {
    relay,
    sent,
    commit: (sequence: number) => {
      const _id = outboxRecordId(own, sequence);
      const messages = [{ topic: 't', key: String(sequence), body: Buffer.of(1) }];
      const outboxRecord: OutboxRecord = { _id, messages, createdAt: new Date(0) };
      void relay.send(outboxRecord);
    },
    pump: () => {
      const ready = waiting.filter(({ source }) => maySend(source));
      waiting = waiting.filter((one) => !ready.includes(one));
      for (const { id, done } of ready) {
        sent.push(id);
        done();
      }
    },
  };
}

it('a process sends its own outbox records for as long as no other process can take it for dead', async () => {
  const { presence, monotonic, database, maySend } = await openPresence();
  expect(maySend(own)).toBe(true);
  monotonic.ms += 4_900;
  expect(maySend(own)).toBe(true);
  const answers = Promise.withResolvers<void>();
  database.answers = answers.promise;
  // It slept, or its database did.
  monotonic.ms += 5_100;
  expect(maySend(own)).toBe(false);
  // What another process left is the sweeper's to send.
  expect(maySend(groupCommitSource('test', 'dead'))).toBe(true);
  answers.resolve();
  await expect.poll(() => maySend(own)).toBe(true);
  await presence[Symbol.asyncDispose]();
  // The process has ended in order, so its successors need not wait until it counts as dead.
  expect(database.ended).toEqual({ _id: 'alive/me', owner: 'me' });
});

it('a process that runs unseen, or wakes, while its database is repaired ends at its next sign of life', async () => {
  const { presence, monotonic, database, maySend, aborted } = await openPresence();
  database.repair = { owner: 'another' };
  expect((await aborted).message).toContain('a repair of this database is in progress');
  monotonic.ms += 60_000;
  expect(maySend(own)).toBe(false);
  await presence[Symbol.asyncDispose]();
});

it.each([
  ['a repair of its database ends when it wakes, because its lease is gone', undefined],
  ['a restore of its database ends when it wakes, because a backup has an older lease of it', 5_999],
])('a process that slept through %s', async (_name, untilMs) => {
  const { presence, monotonic, database, isAlive, aborted } = await openPresence();
  database.untilMs = untilMs;
  expect((await aborted).message).toContain('the database was repaired or replaced');
  monotonic.ms += 5_000;
  expect(isAlive()).toBe(false);
  await presence[Symbol.asyncDispose]();
});

it('a process ends if a backup was restored after a renewal whose second half failed', async () => {
  const { presence, monotonic, database, aborted } = await openPresence();
  monotonic.ms += 1_000;
  database.beforeLock = () => {
    // Its lease lasts until 6,000 before this renewal, and until 7,000 after it.
    if (database.untilMs !== 7_000) return;
    database.untilMs = 6_500;
    database.beforeLock = () => undefined;
    throw new Error('no primary');
  };
  expect((await aborted).message).toContain('the database was repaired or replaced');
  await presence[Symbol.asyncDispose]();
});

it('a process counts as silent if its machine slept, which stops the monotonic clock alone', async () => {
  const { presence, wall, database, maySend, isAlive } = await openPresence();
  const answers = Promise.withResolvers<void>();
  database.answers = answers.promise;
  wall.ms += 60_000;
  expect([isAlive(), maySend(own)]).toEqual([false, false]);
  // The wall clock is set back: what was silent does not live again by that.
  wall.ms -= 60_000;
  expect(isAlive()).toBe(false);
  answers.resolve();
  await expect.poll(isAlive).toBe(true);
  await presence[Symbol.asyncDispose]();
});

it('a repair goes on with its own lock, and ends once another repair has it', async () => {
  const { presence, monotonic, database, isAlive, aborted } = await openPresence(true);
  for (const owner of ['dead', 'me']) {
    database.repair = { owner };
    monotonic.ms += 5_000;
    await expect.poll(isAlive).toBe(true);
  }
  database.repair = { owner: 'another' };
  expect((await aborted).message).toContain('a repair of this database is in progress');
  await presence[Symbol.asyncDispose]();
});

it('a process that was silent for too long sends all that it has committed, in its order', async () => {
  const { presence, monotonic, maySend } = await openPresence();
  const { relay, sent, commit, pump } = openGatedRelay(maySend);
  for (const sequence of [1, 2, 3]) commit(sequence);
  monotonic.ms += 60_000;
  pump();
  expect(sent).toEqual([]);
  await expect.poll(() => maySend(own)).toBe(true);
  commit(4);
  pump();
  // The sweeper may have sent some of them. Those are sent once more, but none for the first time after a newer one.
  expect(sent).toEqual(['1', '2', '3', '4']);
  await presence[Symbol.asyncDispose]();
  await relay[Symbol.asyncDispose]();
});
