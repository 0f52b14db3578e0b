import { describe, expect, it } from 'vitest';
import { DeadlineError, steady, withDeadline } from './clock.ts';

/** A clock whose time comes when the test says so. */
function openClock() {
  const due = Promise.withResolvers<void>();
  const signals: (AbortSignal | undefined)[] = [];
  const sleep = (_durationMs: number, signal?: AbortSignal) => {
    signals.push(signal);
    return due.promise;
  };
  return { clock: { sleep }, pass: due.resolve, signals };
}

describe('a deadline', () => {
  it('lets through what comes in time, and stops waiting', async () => {
    const { clock, signals } = openClock();
    expect(await withDeadline(Promise.resolve(7), 10, clock)).toBe(7);
    await expect(withDeadline(Promise.reject(new Error('no')), 10, clock)).rejects.toThrow('no');
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
  });

  it('ends the wait for what never comes, and hears no later failure of it', async () => {
    const { clock, pass } = openClock();
    const late = Promise.withResolvers<never>();
    const bounded = withDeadline(late.promise, 10, clock);
    pass();
    await expect(bounded).rejects.toBeInstanceOf(DeadlineError);
    late.reject(new Error('late'));
  });
});

it('durations by a steady clock do not change when the wall clock is set', () => {
  let wallMs = 5_000;
  const sleep = async () => undefined;
  const clock = steady({ nowMs: () => wallMs, sleep });
  const beforeMs = clock.nowMs();
  wallMs = 0;
  expect(clock.nowMs()).toBeGreaterThanOrEqual(beforeMs);
  expect(clock.sleep).toBe(sleep);
});
