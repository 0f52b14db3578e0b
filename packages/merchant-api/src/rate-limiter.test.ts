import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRateLimiter } from './rate-limiter.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('counts each key apart, and says how long to wait', async () => {
  const count = createRateLimiter(60);
  const waits = [await count('a', 2), await count('a', 2), await count('a', 2), await count('b', 2)];
  expect(waits).toEqual([undefined, undefined, 60, undefined]);
});

it('counts anew once the window is over', async () => {
  const count = createRateLimiter(1);
  expect([await count('a', 1), await count('a', 1)]).toEqual([undefined, 1]);
  vi.advanceTimersByTime(1_001);
  expect(await count('a', 1)).toBeUndefined();
});
