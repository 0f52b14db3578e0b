import { describe, expect, it } from 'vitest';
import { type FollowedStep, follow, found, hasBreak, keptUp, lookFromMs, stepText } from './steps.ts';

const limits = { limitMs: 1_000, requestsMax: 3 };
const overdue = { reference: 'po-1', kind: 'payout', step: 'hold' } as const;

/** The step after so many checks, each made as soon as it was due, with the step unfinished each time. */
function afterLooks(looks: number): { readonly step: FollowedStep; readonly news: readonly boolean[] } {
  let step = found(overdue, limits, 0);
  const news: boolean[] = [];
  for (let look = 0; look < looks; look += 1) {
    const next = follow(step, true, limits, step.dueAtMs);
    if (next.kind === 'done') throw new Error('it stands');
    news.push(next.isNews);
    step = next.step;
  }
  return { step, news };
}

describe('an overdue step', () => {
  it('is asked for at once, and checked a limit later', () => {
    expect(found(overdue, limits, 5_000)).toEqual({
      ...overdue,
      sinceMs: 5_000,
      requests: 1,
      dueAtMs: 6_000,
      isReported: false,
    });
  });

  it('is reported once, after the allowed number of requests, and asked for again and again', () => {
    expect(afterLooks(5)).toMatchObject({
      step: { requests: 6, isReported: true, sinceMs: 0 },
      news: [false, false, true, false, false],
    });
  });

  it('is asked for with pauses that double up to a bound', () => {
    expect(afterLooks(2).step.dueAtMs).toBe(1_000 + 2_000 + 4_000);
    expect(afterLooks(20).step.dueAtMs - afterLooks(19).step.dueAtMs).toBe(64_000);
  });

  it('is done once it is complete, and its break then closes', () => {
    expect(follow(afterLooks(1).step, false, limits, 9_000)).toEqual({ kind: 'done', wasReported: false });
    expect(follow(afterLooks(3).step, false, limits, 9_000)).toEqual({ kind: 'done', wasReported: true });
  });

  it('is checked once, if its limit leaves enough time for events that are in time', () => {
    expect(lookFromMs(undefined, 60_000)).toBe(0);
    expect(lookFromMs(500_000, 60_000)).toBe(500_000);
    expect(lookFromMs(500_000, 10_000)).toBe(490_000);
  });

  it('is still asked for after it was reported elsewhere, and not reported again', () => {
    const step = keptUp({ ...overdue, step: 'entry' }, 2, limits, 5_000);
    expect(step).toMatchObject({ requests: 2, dueAtMs: 9_000, isReported: true });
    expect(follow(step, true, limits, 9_000)).toMatchObject({ isNews: false, step: { isReported: true } });
    expect([hasBreak(step), hasBreak({ ...step, step: 'hold' })]).toEqual([false, true]);
  });

  it('says what is missing, and what was tried', () => {
    expect(stepText({ step: 'delivery', requests: 4 })).toMatch(/no webhook is owed.*4 times/);
  });
});
