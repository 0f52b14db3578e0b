import { systemClock } from '@pesewa/kernel';
import { expect, it } from 'vitest';
import { createScheduler } from './scheduler.ts';

it('runs nothing before the clock has reached the moment, even when the timer is early', async () => {
  let nowMs = 0;
  // A clock that lags behind the process's timers: each reading advances it by one millisecond.
  const clock = { ...systemClock, nowMs: () => nowMs++ };
  using scheduler = createScheduler(clock);
  const ranAtMs = await new Promise<number>((resolve) => {
    scheduler.at(10, () => resolve(nowMs));
  });
  expect(ranAtMs).toBeGreaterThan(10);
});
