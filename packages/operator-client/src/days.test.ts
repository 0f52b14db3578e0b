import { describe, expect, it } from 'vitest';
import { dayAt, nextDay, showTime, startOfDay } from './days.ts';

describe('a day', () => {
  it.each([
    ['2026-11-01', 'UTC', '2026-11-01T00:00:00.000Z'],
    ['2026-11-01', 'Africa/Nairobi', '2026-10-31T21:00:00.000Z'],
    ['2026-11-01', 'America/New_York', '2026-11-01T04:00:00.000Z'],
    ['2026-11-02', 'America/New_York', '2026-11-02T05:00:00.000Z'],
    ['2026-11-01', 'Pacific/Kiritimati', '2026-10-31T10:00:00.000Z'],
    // Egypt puts its clocks forward at midnight: this day begins at one o'clock.
    ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    ['2026-04-25', 'Africa/Cairo', '2026-04-24T21:00:00.000Z'],
    ['2026-10-30', 'Africa/Cairo', '2026-10-29T22:00:00.000Z'],
  ])('%s in %s begins at %s', (day, zone, begins) => {
    const start = startOfDay(day, zone);
    expect(start.toISOString()).toBe(begins);
    expect([dayAt(start.getTime(), zone), dayAt(start.getTime() - 1, zone) < day]).toEqual([day, true]);
  });

  it('is followed by the next one of the calendar', () => {
    expect([nextDay('2026-02-28'), nextDay('2028-02-28'), nextDay('2026-12-31')]).toEqual([
      '2026-03-01',
      '2028-02-29',
      '2027-01-01',
    ]);
  });
});

it('a time is shown in its zone, with the distance from UTC', () => {
  const at = '2026-10-31T21:30:05.123Z';
  expect(showTime(at, 'UTC')).toBe(at);
  expect(showTime(at, 'Africa/Nairobi')).toBe('2026-11-01 00:30:05+03:00');
  expect(showTime(at, 'Africa/Abidjan')).toBe('2026-10-31 21:30:05+00:00');
  expect(showTime(at, 'America/New_York')).toBe('2026-10-31 17:30:05-04:00');
});
