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
    ['empty', '2026-11-20', '2026-11-20', 'from must be before to'],
    ['backwards', '2026-11-20', '2026-11-19', 'from must be before to'],
    ['longer than a month', '2026-10-19T23:59:59.999Z', '2026-11-20', 'to: a close is about 31 days at most'],
    [
      'within the allowed lag',
      '2026-11-20',
      '2026-11-21T00:00:00.001Z',
      'to: events of this time may still be on their way: it can be closed from 2026-11-21T00:10:00.001Z on',
    ],
  ])('is judged: %s', (_name, from, to, verdict) => {
    const judged = judgeWindow(window(from, to), at('2026-11-21T00:10:00Z').getTime(), LAG_MS);
    expect(judged.ok ? judged.value : judged.refusal.message).toBe(verdict);
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
  const days = (oldest?: Date) => nightlyDays(at('2026-11-21T03:00:00Z').getTime(), oldest).map(closeIdOf);

  it('is about yesterday', () => {
    expect(days()).toEqual(['2026-11-20']);
    expect(days(at('2026-11-21T01:00:00Z'))).toEqual(['2026-11-20']);
  });

  it('is about each day of the month before from the oldest payment on that nothing has compared', () => {
    expect(days(at('2026-11-18T23:00:00Z'))).toEqual(['2026-11-18', '2026-11-19', '2026-11-20']);
    expect(days(at('2026-01-01'))).toHaveLength(31);
    expect(days(at('2026-01-01')).at(-1)).toBe('2026-11-20');
  });
});
