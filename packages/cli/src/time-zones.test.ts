import { describe, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';
import { dayAt, nextDay, readZone, showTime, startOfDay } from './time-zones.ts';

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

it('a zone is named as the IANA database does, in any case', () => {
  expect(readZone('africa/nairobi')).toBe('Africa/Nairobi');
  expect(() => readZone('Nairobi')).toThrow(/^--tz: Nairobi is no time zone: write a name such as/);
});

const page = { status: 200, body: { items: [], next: null } };

describe('--tz', () => {
  it('is that of the days of a list', async () => {
    const line = commandLine([page]);
    const days = ['--from', '2026-11-01', '--to', '2026-11-02T08:00:00Z', '--tz', 'Africa/Nairobi'];
    expect(await line.run('payments', 'list', 'payouts', ...days)).toBe(0);
    const [asked] = line.requests.map((request) => new URL(String(request)).searchParams);
    expect([asked?.get('from'), asked?.get('to')]).toEqual([
      '2026-10-31T21:00:00.000Z',
      '2026-11-02T08:00:00.000Z',
    ]);
  });

  it('is that of the day of a close, which is then from one time to another', async () => {
    const line = commandLine([{ status: 409, body: { code: 'not_over', message: 'to: not over' } }]);
    await line.run('reconcile', 'close', '--date', '2026-11-20', '--tz', 'Africa/Nairobi');
    await line.run('reconcile', 'close', '--date', '2026-11-20', '--tz', 'UTC');
    expect(line.requests).toMatchObject([
      { body: { from: '2026-11-19T21:00:00.000Z', to: '2026-11-20T21:00:00.000Z' } },
      { body: { date: '2026-11-20' } },
    ]);
  });

  it.each(['statement wallet:demo:GHS', 'reconcile close', 'payments list payouts'])(
    'of %s that is none is refused',
    async (command) => {
      const line = commandLine([page]);
      expect(await line.run(...command.split(' '), '--tz', 'Mars/Olympus')).toBe(1);
      expect(line.complained()).toMatch(/^pesewa: --tz: Mars\/Olympus is no time zone/);
      expect(line.requests).toEqual([]);
    },
  );
});
