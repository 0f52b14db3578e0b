import { describe, expect, it } from 'vitest';
import { pauseBeforePoll } from './schedule.ts';

const schedule = { baseMs: 30_000, capMs: 900_000, settleMs: 60_000 };
const pause = (pollsInRound: number, fraction = 0.5, settling = false) =>
  pauseBeforePoll(schedule, { pollsInRound, settling }, fraction);

describe('the pause before the next poll', () => {
  it('doubles from poll to poll, up to the cap', () => {
    expect([0, 1, 2, 3, 4, 5, 1_000].map((polls) => pause(polls))).toEqual([
      30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000,
    ]);
  });

  it('has a fifth of jitter either way', () => {
    expect(pause(0, 0)).toBe(24_000);
    expect(pause(0, 1)).toBe(36_000);
  });

  it('stays within a quarter of the settle time while a claim awaits its proof', () => {
    expect(pause(9, 0.5, true)).toBe(15_000);
  });
});
