import { describe, expect, it } from 'vitest';
import { closeIdOf, dayFrom, judgeWindow, nightlyDays } from './window.ts';

const at = (text: string) => new Date(text);
const day = at('2026-11-20T00:00:00Z');
const window = (from: string, to: string) => ({ from: at(from), to: at(to), rail: null });
const LAG_MS = 600_000;

describe('a window', () => {
  it.each([
    ['over, and the allowed lag too', '2026-11-20', '2026-11-21', true],
    ['a month', '2026-10-20', '2026-11-20', true],
    ['empty', '2026-11-20', '2026-11-20', 'window.empty'],
    ['backwards', '2026-11-20', '2026-11-19', 'window.empty'],
    ['longer than a month', '2026-10-19T23:59:59.999Z', '2026-11-20', 'window.too_long'],
    ['within the allowed lag', '2026-11-20', '2026-11-21T00:00:00.001Z', 'window.not_over'],
  ])('is judged: %s', (_name, from, to, verdict) => {
    const judged = judgeWindow(window(from, to), at('2026-11-21T00:10:00Z').getTime(), LAG_MS);
    expect(judged.ok ? judged.value : judged.refusal).toBe(verdict);
  });

  it('always has the same name', () => {
    expect(closeIdOf(dayFrom(day, null))).toBe('2026-11-20');
    expect(closeIdOf(dayFrom(day, 'upstream'))).toBe('2026-11-20.upstream');
    expect(closeIdOf(window('2026-11-20', '2026-11-21'))).toBe('2026-11-20');
    expect(closeIdOf(window('2026-11-20T01:00:00Z', '2026-11-21T01:00:00Z'))).toBe(
      '2026-11-20T01:00:00.000Z--2026-11-21T01:00:00.000Z',
    );
  });
});

describe('the nightly close', () => {
  const nowMs = at('2026-11-21T03:00:00Z').getTime();
  const days = (...closed: readonly string[]) => nightlyDays(closed, nowMs).missing.map(closeIdOf);
  const late = (oldest?: Date) => nightlyDays([], nowMs, oldest).late;

  it('is about yesterday', () => {
    expect(days()).toEqual(['2026-11-20']);
    expect(days('2026-11-19')).toEqual(['2026-11-20']);
  });

  it('makes up for nights that were missed, and repeats none', () => {
    expect(days('2026-11-17')).toEqual(['2026-11-18', '2026-11-19', '2026-11-20']);
    expect(days('2026-11-20')).toEqual([]);
    expect(days('2026-01-01')).toHaveLength(31);
    expect(days('2026-01-01').at(-1)).toBe('2026-11-20');
  });

  it('finds the gaps that closes by hand leave', () => {
    expect(days('2026-11-16', '2026-11-18', '2026-11-20')).toEqual(['2026-11-17', '2026-11-19']);
    expect(days('2026-01-01', '2026-11-20')).toHaveLength(30);
  });

  it('looks for what came late in each day of the month before from the oldest payment on', () => {
    expect(late()).toEqual([]);
    expect(late(at('2026-11-21T01:00:00Z'))).toEqual([]);
    expect(late(at('2026-11-19T23:00:00Z'))).toEqual(['2026-11-19', '2026-11-20']);
    expect(late(at('2026-01-01'))).toHaveLength(31);
  });
});
