import { createLogger } from '@pesewa/runtime';
import { createAutoAdvancingClock } from '@pesewa/testkit';
import { Registry } from 'prom-client';
import { expect, it, vi } from 'vitest';
import { startArrivals } from './arrivals.ts';

it('the age of what is known to have arrived grows while an outbox can not be read, and from the start on', async () => {
  let nowMs = 100_000;
  let isReadable = true;
  const looks = vi.fn<() => void>();
  const registry = new Registry();
  await using arrivals = startArrivals({
    messaging: { ends: async () => [], hasApplied: async () => true },
    onItsWay: {
      waiting: async () => {
        looks();
        return isReadable ? [] : undefined;
      },
      hasLeft: async () => true,
    },
    clock: { ...createAutoAdvancingClock(), nowMs: () => nowMs },
    logger: createLogger({ name: 'test', level: 'silent' }),
    limitMs: 60_000,
    pauseMs: 1,
    registry,
  });
  const ageOf = async (kind: string) => {
    const metric = await registry.getSingleMetric('last_arrival_age_seconds')?.get();
    return metric?.values.find(({ labels }) => labels['kind'] === kind)?.value;
  };
  await expect.poll(() => arrivals.arrived('collection')?.untilMs).toBe(nowMs);
  isReadable = false;
  nowMs += 90_000;
  looks.mockClear();
  await expect.poll(() => looks.mock.calls.length).toBeGreaterThan(4);
  expect([await ageOf('payout'), await ageOf('collection')]).toEqual([90, 90]);
  expect(arrivals.arrived('payout')).toBeNull();
});
