import { describe, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';
import { readZone } from './time-zones.ts';

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

  it.each(['statement wallet:demo:GHS', 'payments list payouts'])(
    'of %s that is none is refused',
    async (command) => {
      const line = commandLine([page]);
      expect(await line.run(...command.split(' '), '--tz', 'Mars/Olympus')).toBe(1);
      expect(line.complained()).toMatch(/^pesewa: --tz: Mars\/Olympus is no time zone/);
      expect(line.requests).toEqual([]);
    },
  );
});
