import { DAY_MS } from '@pesewa/kernel';
import { Option } from 'commander';
import { CliError } from './errors.ts';

/** The zone in which days begin and end unless another one is asked for. */
export const UTC = 'UTC';

/** The option of a time zone; {@link readZone} reads it. */
export const zoneOption = () =>
  new Option('--tz <zone>', 'the time zone of days, such as Africa/Nairobi; tables show times in it').default(
    UTC,
  );

/** Reads a time zone by its name in the IANA database; gives the usual spelling of the name. */
export function readZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw new CliError(
      `--tz: ${text} is no time zone: write a name such as Africa/Nairobi, or leave it out for UTC`,
    );
  }
}

/** The formats of a zone, which take long to make. */
const formatsOf = memoise((timeZone: string) => {
  const common = { timeZone, hourCycle: 'h23' } as const;
  return {
    // Sweden writes dates as ISO 8601 does.
    day: new Intl.DateTimeFormat('sv-SE', { ...common, dateStyle: 'short' }),
    clock: new Intl.DateTimeFormat('sv-SE', { ...common, timeStyle: 'medium' }),
    distance: new Intl.DateTimeFormat('en-GB', { ...common, timeZoneName: 'longOffset' }),
  };
});

function memoise<Value>(make: (key: string) => Value): (key: string) => Value {
  const made = new Map<string, Value>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

/** The day of a time in a zone, such as `2026-11-20`. */
export function dayAt(atMs: number, zone: string): string {
  return formatsOf(zone).day.format(atMs);
}

/** The day after. */
export function nextDay(day: string): string {
  return dayAt(Date.parse(`${day}T00:00:00Z`) + DAY_MS, UTC);
}

/** The first moment of a day in a zone, which is not midnight where the clocks go forward at midnight. */
export function startOfDay(day: string, zone: string): Date {
  const midnightMs = Date.parse(`${day}T00:00:00Z`);
  // No zone is a whole day away from UTC.
  let beforeMs = midnightMs - DAY_MS;
  let startMs = midnightMs + DAY_MS;
  while (startMs - beforeMs > 1) {
    const middleMs = Math.floor((beforeMs + startMs) / 2);
    if (dayAt(middleMs, zone) < day) beforeMs = middleMs;
    else startMs = middleMs;
  }
  return new Date(startMs);
}

/** The heading of a column of times, with its zone where that is not UTC. */
export function inZone(heading: string, zone: string): string {
  return zone === UTC ? heading : `${heading} (${zone})`;
}

/** A time as a table shows it: in UTC as it came, in any other zone as local date and time with the distance from UTC. */
export function showTime(at: string, zone: string): string {
  if (zone === UTC) return at;
  const atMs = Date.parse(at);
  const { clock, distance } = formatsOf(zone);
  const named = distance.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value;
  return `${dayAt(atMs, zone)} ${clock.format(atMs)}${named?.replace('GMT', '') || '+00:00'}`;
}
