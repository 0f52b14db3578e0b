import type { Clock } from '@pesewa/kernel';
import { createHealth, createLogger } from '@pesewa/runtime';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { Outbox } from './outbox.ts';
import { openOutboxBound } from './outbox-bound.ts';

/** A clock that the test moves; sleepers wake when their time has come. */
function createTestClock() {
  let nowMs = 0;
  const sleepers = new Set<() => void>();
  const clock: Clock = {
    nowMs: () => nowMs,
    sleep: (durationMs, signal) => {
      const untilMs = nowMs + durationMs;
      return new Promise((resolve) => {
        const wake = () => {
          if (nowMs < untilMs && signal?.aborted !== true) return;
          sleepers.delete(wake);
          resolve();
        };
        sleepers.add(wake);
        signal?.addEventListener('abort', wake);
      });
    },
  };
  const later = async (durationMs: number) => {
    for (const endMs = nowMs + durationMs; nowMs < endMs; ) {
      nowMs += 500;
      for (const wake of sleepers) wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { clock, later };
}

it('refuses work from where too much waits until a good part of it is gone, and looks at nothing before', async () => {
  const { clock, later } = createTestClock();
  let bytes = 0;
  let looks = 0;
  let sinceMs: number | undefined;
  const health = createHealth();
  const registry = new Registry();
  const outbox = {
    aggregate: () => {
      looks += 1;
      return { toArray: async () => [{ storageStats: { size: bytes } }] };
    },
  } as unknown as Outbox;
  await using bound = openOutboxBound({
    outbox,
    relay: { oldestPendingSinceMs: () => sinceMs },
    bytesMax: 1_000,
    health,
    registry,
    clock,
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  expect(bound.acceptsWork()).toBe(true);
  const full = async () => [
    bound.acceptsWork(),
    (await registry.getSingleMetric('outbox_full')?.get())?.values[0]?.value,
    (await health.readiness()).details['outbox'] !== undefined,
  ];
  const takes = [true, 0, false];
  const refuses = [false, 1, true];

  await later(10_000);
  // An outbox record that has not waited for long is still on its way.
  sinceMs = clock.nowMs();
  bytes = 5_000;
  await later(2_500);
  expect([looks, ...(await full())]).toEqual([0, ...takes]);
  await later(2_000);
  expect(await full()).toEqual(refuses);
  for (const [size, expected] of [
    [1_000, refuses],
    [801, refuses],
    [800, takes],
    [1_000, takes],
    [1_001, refuses],
  ] as const) {
    bytes = size;
    await later(1_500);
    expect(await full()).toEqual(expected);
  }
  // Whatever the database counts: if nothing of this process waits, Kafka accepts what we send.
  sinceMs = undefined;
  await later(1_500);
  expect(await full()).toEqual(takes);
});
