import { describe, expect, it } from 'vitest';
import { called, collection, completed, poll, timing } from '../fixtures/verdicts.ts';
import type { RailAnswer } from './judging.ts';
import { apply } from './observations.ts';
import { afterBackOff, afterPoll, notAsked, pauseBeforePoll } from './schedule.ts';
import type { Tracked } from './tracked.ts';

const schedule = { baseMs: 30_000, capMs: 900_000, lagMs: 60_000 };
const pause = (pollsInRound: number, fraction = 0.5, lagging = false) =>
  pauseBeforePoll(schedule, { pollsInRound, lagging }, fraction);

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

  it('stays within a quarter of the allowed lag while a claim awaits its proof', () => {
    expect(pause(9, 0.5, true)).toBe(15_000);
  });
});

describe('polls that callbacks bring about', () => {
  const open: Tracked = { ...collection(), pollsInRound: 3 };
  const hint = (tracked: Tracked, nowMs: number) =>
    apply(tracked, called({ atMs: nowMs }), { ...timing, nowMs });
  /** Claims a due payment and answers nothing new; undefined if nothing is due. */
  const ask = (tracked: Tracked, nowMs: number, answer: RailAnswer = { kind: 'pending' }) => {
    if (tracked.dueAtMs === null || tracked.dueAtMs > nowMs) return undefined;
    const claimed = { ...tracked, askedAtMs: nowMs, claim: 'cm-1' };
    const { verdict } = poll(claimed, answer, { askedAtMs: nowMs });
    const made = { claim: 'cm-1', askedAtMs: nowMs, answer };
    return afterPoll(claimed, made, verdict, { schedule, nowMs, fraction: 0.5 });
  };

  it('come at most once within the interval, and the last callback still gets its own', () => {
    let tracked = open;
    const asked: number[] = [];
    for (let nowMs = 10_000; nowMs < 15_000; nowMs += 10) {
      tracked = nowMs < 14_000 ? hint(tracked, nowMs) : tracked;
      const next = ask(tracked, nowMs);
      if (next) asked.push(nowMs);
      tracked = next ?? tracked;
    }
    expect(asked).toEqual([10_000, 11_000, 12_000, 13_000, 14_000]);
    expect(tracked).toMatchObject({ polls: 5, hintedPolls: 5, pollsInRound: 3, scheduledAtMs: 31_000 });
  });

  it('come no oftener while a poll is in progress', () => {
    const inProgress = { ...open, askedAtMs: 10_000, claim: 'cm-1', dueAtMs: 90_000 };
    expect(hint(inProgress, 10_100)).toMatchObject({ dueAtMs: 11_000, claim: null });
    expect(hint(inProgress, 20_000)).toMatchObject({ dueAtMs: 20_000, claim: null });
  });

  it('are not put off by a clock that is ahead', () => {
    expect(hint({ ...open, askedAtMs: 99_000 }, 10_000).dueAtMs).toBe(11_000);
  });

  it('never keep the schedule from having its turn: a flood does not hide that a payment is stuck', () => {
    let tracked: Tracked = { ...open, pollsInRound: 0, dueAtMs: 31_000 };
    for (let nowMs = 10_000; nowMs < 200_000; nowMs += 500) {
      tracked = hint(tracked, nowMs);
      tracked = ask(tracked, nowMs) ?? tracked;
    }
    // 31 s, and then the pauses of 30, 60 and 120 s.
    expect(tracked.polls - tracked.hintedPolls).toBe(3);
    expect(tracked.pollsInRound).toBe(3);
  });

  it('about an ended payment go on at the usual pauses while the rail gives no answer', () => {
    let tracked: Tracked = { ...apply(open, completed(), timing), pollsInRound: 0 };
    tracked = apply(tracked, called({ status: 'FAILED', atMs: 10_000 }), { ...timing, nowMs: 10_000 });
    const asked: number[] = [];
    for (let nowMs = 10_000; nowMs < 7_200_000; nowMs += 1_000) {
      const next = ask(tracked, nowMs, { kind: 'unknown' });
      if (next) asked.push(nowMs);
      tracked = next ?? tracked;
    }
    const pauses = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
    expect(pauses.slice(0, 3)).toEqual([15_000, 15_000, 15_000]);
    expect(pauses.slice(-3)).toEqual([900_000, 900_000, 900_000]);
    expect(asked.length).toBeLessThan(20);
  });

  it('or the schedule about what can’t be asked come at the cap, and people see it once', () => {
    const answer: RailAnswer = { kind: 'unaskable', why: 'the rail is not configured here' };
    const next = ask({ ...open, pollsInRound: 0 }, 31_000, answer);
    expect(next).toMatchObject({ dueAtMs: 931_000, scheduledAtMs: 931_000 });
    expect(poll(open, answer)).toMatchObject({
      breaks: ['payment.stuck'],
      details: ['the rail is not configured here'],
    });
    const ended = apply(apply(open, completed(), timing), called({ status: 'FAILED' }), timing);
    expect(poll(ended, answer).breaks).toEqual(['payment.stuck']);
    expect(ask(ended, 8_000, answer)?.dueAtMs).toBe(908_000);
    expect(poll(apply(open, completed(), timing), answer).breaks).toEqual([]);
  });
});

describe('a poll that the rail turned away', () => {
  const unsaid = { lagging: false, undecided: false };
  const at = (nowMs: number) => ({ schedule, nowMs, fraction: 0.5 });
  const claimed: Tracked = { ...collection(), pollsInRound: 0, scheduledAtMs: 31_000, claim: 'cm-1' };
  const turnedAway = (askedAtMs: number, retryAfterMs: number) =>
    ({ claim: 'cm-1', askedAtMs, answer: { kind: 'unknown', retryAfterMs } }) as const;

  it('counts and backs off, and is repeated no sooner than the rail permits', () => {
    const next = afterPoll(claimed, turnedAway(31_000, 600_000), unsaid, at(31_000));
    expect(next).toMatchObject({ polls: 1, pollsInRound: 1, scheduledAtMs: 61_000, dueAtMs: 691_000 });
    // By then its scheduled poll has been made.
    const again = afterPoll({ ...next, claim: 'cm-1' }, turnedAway(691_000, 1_000), unsaid, at(691_000));
    expect(again).toMatchObject({ polls: 2, hintedPolls: 0, pollsInRound: 2, dueAtMs: 751_000 });
  });

  it('that a callback brought about waits for the rail too, and moves not the schedule', () => {
    const lagging = { lagging: true, undecided: false };
    const next = afterPoll(claimed, turnedAway(10_000, 20_000), lagging, at(10_000));
    expect(next).toMatchObject({ hintedPolls: 1, pollsInRound: 0, scheduledAtMs: 31_000, dueAtMs: 32_000 });
  });

  it('about an ended payment is not repeated for it', () => {
    const ended: Tracked = { ...claimed, status: 'completed', scheduledAtMs: null };
    expect(afterPoll(ended, turnedAway(31_000, 600_000), unsaid, at(31_000)).dueAtMs).toBeNull();
  });
});

describe('a poll that our own limits refused', () => {
  const made = { claim: 'cm-1', askedAtMs: 40_000 };
  const claimed: Tracked = {
    ...collection(),
    pollsInRound: 3,
    scheduledAtMs: 31_000,
    dueAtMs: 90_000,
    claim: 'cm-1',
  };

  it('is none: the payment is due again soon, with jitter, and nothing counts', () => {
    expect(notAsked(claimed, made, afterBackOff(41_000, 1_000, 0.5))).toEqual({
      ...claimed,
      claim: null,
      dueAtMs: 42_100,
    });
  });

  it('leaves it due behind an open circuit, at its place among the oldest', () => {
    expect(notAsked(claimed, made, null)).toEqual({ ...claimed, claim: null, dueAtMs: 31_000 });
  });

  it('leaves it due where a callback alone had made it so', () => {
    const hinted = { ...claimed, scheduledAtMs: 99_000 };
    expect(notAsked(hinted, made, null).dueAtMs).toBe(40_000);
    expect(notAsked({ ...claimed, scheduledAtMs: null }, made, null).dueAtMs).toBe(40_000);
  });

  it('does not change a payment whose claim was replaced: a callback has also set the next poll', () => {
    const hinted = { ...claimed, claim: null, dueAtMs: 40_500 };
    expect(notAsked(hinted, made, null)).toBe(hinted);
  });
});
