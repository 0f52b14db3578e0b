import { describe, expect, it } from 'vitest';
import { DeadlineError, sleepless, steady, withDeadline } from './clock.ts';

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

it('a time of a machine that sleeps goes on, also after its wall clock jumped and was set back', () => {
  let [wallMs, monotonicMs] = [100_000, 1_000];
  const nowMs = sleepless({ nowMs: () => wallMs }, () => monotonicMs);
  const pass = (ms: number, sleptMs = 0) => {
    const beforeMs = nowMs();
    wallMs += ms + sleptMs;
    monotonicMs += ms;
    return nowMs() - beforeMs;
  };
  expect(pass(5_000)).toBe(5_000);
  expect(pass(10, 60_000)).toBe(60_010);
  // An hour ahead, and back: this ends no right later.
  expect(pass(10, 3_600_000)).toBe(3_600_010);
  expect(pass(10, -3_600_000)).toBe(10);
  expect(pass(10, 60_000)).toBe(60_010);
  // The wall clock is corrected all the time.
  expect(pass(10, 900)).toBe(10);
});
