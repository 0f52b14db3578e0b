import { createLogger } from '@pesewa/runtime';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { openCallbackRoom } from './callback-room.ts';

/** A clock whose sleepers the test wakes; `paused` are those that sleep. */
function createPausedClock() {
  const paused: (() => void)[] = [];
  const sleep = (_durationMs: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      paused.push(resolve);
      signal?.addEventListener('abort', () => resolve());
    });
  return { paused, clock: { nowMs: () => 0, sleep } };
}

test('unauthenticated callbacks have room while their share of all callbacks is within the bound, and again once some expired', async () => {
  const { paused, clock } = createPausedClock();
  const registry = new Registry();
  const measured: { bytes: number | Error; share: number } = { bytes: 1_000, share: 1 };
  let samples = 0;
  await using room = openCallbackRoom({
    store: {
      bytes: async () => {
        if (measured.bytes instanceof Error) throw measured.bytes;
        return measured.bytes;
      },
      unverifiedShare: async () => {
        samples += 1;
        return measured.share;
      },
    },
    bytesMax: 1_000,
    registry,
    clock,
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  expect(room.hasRoom()).toBe(true);
  const measure = async (bytes: number | Error, share: number) => {
    Object.assign(measured, { bytes, share });
    await expect.poll(() => paused.length).toBe(1);
    paused.shift()?.();
    await expect.poll(() => paused.length).toBe(1);
    return [room.hasRoom(), (await registry.getSingleMetric('callbacks_full')?.get())?.values[0]?.value];
  };
  const hasRoom = [true, 0];
  const isFull = [false, 1];
  expect(await measure(1_000, 1)).toEqual(hasRoom);
  expect(samples).toBe(0);
  expect(await measure(1_001, 1)).toEqual(isFull);
  expect(await measure(new Error('no statistics'), 1)).toEqual(isFull);
  expect(await measure(4_000, 0.25)).toEqual(isFull);
  expect(await measure(4_000, 0.22)).toEqual(hasRoom);
  expect(await measure(new Error('no statistics'), 1)).toEqual(hasRoom);
  expect(await measure(4_000, 0.26)).toEqual(isFull);
  expect(await measure(900, 1)).toEqual(hasRoom);
  expect(samples).toBe(4);
});
