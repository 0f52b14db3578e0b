import type { Clock } from '@pesewa/kernel';
import { expect, it } from 'vitest';
import { createLogger } from './logger.ts';
import { createShutdown } from './shutdown.ts';

const WITHIN_MS = 24_000;
/** The time for a step that names none. */
const MOMENT_MS = 250;

/** A shutdown whose time passes only when nothing else can happen, so that a hanging step hangs for its full time. */
function openShutdown() {
  let nowMs = 0;
  const sleeping = new Set<number>();
  const clock: Pick<Clock, 'sleep'> = {
    sleep: async (durationMs, signal) => {
      const untilMs = nowMs + durationMs;
      sleeping.add(untilMs);
      do await new Promise(setImmediate);
      while (!signal?.aborted && Math.min(...sleeping) < untilMs);
      sleeping.delete(untilMs);
      if (!signal?.aborted) nowMs = untilMs;
    },
  };
  const lines: string[] = [];
  const logger = createLogger({ name: 'test', level: 'info' }, { write: (line) => void lines.push(line) });
  const shutdown = createShutdown({ withinMs: WITHIN_MS, clock, monotonicMs: () => nowMs, logger });
  const closed: string[] = [];
  const open = (
    name: string,
    close: () => Promise<unknown> = () => Promise.resolve(),
    endsWithinMs?: number,
  ) =>
    shutdown.open(name, {
      ...(endsWithinMs !== undefined && { endsWithinMs }),
      [Symbol.asyncDispose]: async () => {
        closed.push(name);
        await close();
      },
    });
  return {
    shutdown,
    clock,
    open,
    closed,
    nowMs: () => nowMs,
    logged: () =>
      lines.map((line) => {
        const { level, step, msg } = JSON.parse(line) as Record<string, unknown>;
        return { level, step, msg };
      }),
  };
}

const never = () => new Promise<never>(() => undefined);

it('closes in the reverse order of opening, each step once, and says so', async () => {
  const { shutdown, open, closed, logged } = openShutdown();
  for (const name of ['database', 'relay', 'consumer', 'public port']) await open(name);
  expect(await shutdown.close()).toEqual([]);
  expect(closed).toEqual(['public port', 'consumer', 'relay', 'database']);
  expect(logged()).toEqual(closed.map((step) => ({ level: 30, step, msg: 'closed' })));
  await shutdown.close();
  expect(closed).toHaveLength(4);
});

it('begins no step before the one before it has ended', async () => {
  const { shutdown, open, closed } = openShutdown();
  const relay = Promise.withResolvers<void>();
  await open('database');
  await open('relay', () => relay.promise);
  const closing = shutdown.close();
  await Promise.resolve();
  expect(closed).toEqual(['relay']);
  relay.resolve();
  expect(await closing).toEqual([]);
  expect(closed).toEqual(['relay', 'database']);
});

it('goes on without a step that hangs or breaks, and names it', async () => {
  const { shutdown, open, closed, nowMs, logged } = openShutdown();
  await open('database');
  await open('relay', () => Promise.reject(new Error('no Kafka')));
  await open('consumer', never);
  expect(await shutdown.close()).toEqual(['consumer', 'relay']);
  expect(closed).toEqual(['consumer', 'relay', 'database']);
  expect(nowMs()).toBe(WITHIN_MS - 2 * MOMENT_MS);
  expect(logged()).toEqual([
    { level: 50, step: 'consumer', msg: 'does not close, going on without it' },
    { level: 50, step: 'relay', msg: 'broke while it closed' },
    { level: 30, step: 'database', msg: 'closed' },
  ]);
});

it('ends in its time, even where every step hangs, and gives each a turn', async () => {
  const { shutdown, open, closed, nowMs } = openShutdown();
  const names = Array.from({ length: 20 }, (_, at) => `step ${at}`);
  for (const name of names) await open(name, never);
  expect(await shutdown.close()).toEqual(names.toReversed());
  expect(closed).toEqual(names.toReversed());
  expect(nowMs()).toBe(WITHIN_MS);
});

it('lets a call end that takes more than half of the time', async () => {
  const { shutdown, clock, open } = openShutdown();
  await open('database');
  await open('submitter', () => clock.sleep(15_000));
  expect(await shutdown.close()).toEqual([]);
});

it('keeps the time that a step names, even where every step before it hangs', async () => {
  const { shutdown, clock, open, closed, nowMs } = openShutdown();
  await open('database');
  await open('submitter', () => clock.sleep(13_000), 13_000);
  await open('consumer', never);
  await open('public port', never, 3_000);
  expect(await shutdown.close()).toEqual(['public port', 'consumer']);
  expect(closed).toEqual(['public port', 'consumer', 'submitter', 'database']);
  expect(nowMs()).toBeLessThan(WITHIN_MS);
});

it('refuses what would need more time than there is', async () => {
  const { shutdown, open, closed } = openShutdown();
  await open('database');
  await open('submitter', undefined, 20_000);
  await expect(open('public port', undefined, 4_000)).rejects.toThrow(
    'public port: the steps of the end need more than 24000 ms',
  );
  expect(await shutdown.close()).toEqual([]);
  expect(closed).toEqual(['public port', 'submitter', 'database']);
});

it('closes at once what is opened too late, and refuses it', async () => {
  const { shutdown, open, closed } = openShutdown();
  await shutdown.close();
  await expect(open('database')).rejects.toThrow('database was opened while the process closes');
  expect(closed).toEqual(['database']);
  expect(shutdown.hasBegun()).toBe(true);
});
