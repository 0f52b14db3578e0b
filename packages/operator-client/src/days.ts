import { DAY_MS, memoise } from '@pesewa/kernel';

/** The zone in which days begin and end unless another one is asked for. */
export const UTC = 'UTC';

/** The formats of a zone. */
const formatsOf = memoise((timeZone: string) => {
  const common = { timeZone, hourCycle: 'h23' } as const;
  return {
    // Sweden writes dates as ISO 8601 does.
    day: new Intl.DateTimeFormat('sv-SE', { ...common, dateStyle: 'short' }),
    clock: new Intl.DateTimeFormat('sv-SE', { ...common, timeStyle: 'medium' }),
    distance: new Intl.DateTimeFormat('en-GB', { ...common, timeZoneName: 'longOffset' }),
  };
});

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

/** A time as a table shows it: in UTC as it came, in any other zone as local date and time with the distance from UTC. */
export function showTime(at: string, zone: string): string {
  if (zone === UTC) return at;
  const atMs = Date.parse(at);
  const { clock, distance } = formatsOf(zone);
  const named = distance.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value;
  return `${dayAt(atMs, zone)} ${clock.format(atMs)}${named?.replace('GMT', '') || '+00:00'}`;
}
