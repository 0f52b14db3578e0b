import type { TimeFormat } from './statement-mapping.ts';

const SECOND_MS = 1_000;
const DAY_S = 86_400;

const date = String.raw`(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})`;
const clock = String.raw`(?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?`;
const dayFirst = (separator: string) =>
  String.raw`(?<day>\d{2})${separator}(?<month>\d{2})${separator}(?<year>\d{4}) ${clock}`;

/** The formats with a day and a time; seconds may be missing. */
const forms: Readonly<Partial<Record<TimeFormat, RegExp>>> = {
  ISO: new RegExp(String.raw`^${date}[T ]${clock} ?(?<zone>Z|[+-]\d{2}:?\d{2})$`),
  'YYYY-MM-DD HH:mm:ss': new RegExp(`^${date}[T ]${clock}$`),
  'DD/MM/YYYY HH:mm:ss': new RegExp(`^${dayFirst('/')}$`),
  'MM/DD/YYYY HH:mm:ss': new RegExp(String.raw`^(?<month>\d{2})/(?<day>\d{2})/(?<year>\d{4}) ${clock}$`),
  'DD.MM.YYYY HH:mm:ss': new RegExp(`^${dayFirst(String.raw`\.`)}$`),
  'DD-MM-YYYY HH:mm:ss': new RegExp(`^${dayFirst('-')}$`),
  YYYYMMDDHHmmss:
    /^(?<year>\d{4})(?<month>\d{2})(?<day>\d{2})(?<hour>\d{2})(?<minute>\d{2})(?<second>\d{2})$/,
};

/**
 * Reads a time in milliseconds since the epoch; undefined for text that has another format or is no date of the
 * calendar.
 */
export function readTime(text: string, format: TimeFormat, offset: string | undefined): number | undefined {
  if (format === 'unix' || format === 'unixMs') {
    const [, whole, milliseconds = ''] = /^(\d{9,13})(?:\.(\d{1,3}))?$/.exec(text) ?? [];
    if (whole === undefined) return undefined;
    if (format === 'unixMs') return milliseconds === '' ? Number(whole) : undefined;
    return whole.length > 10 ? undefined : Number(whole) * SECOND_MS + Number(milliseconds.padEnd(3, '0'));
  }
  const parts = forms[format]?.exec(text)?.groups;
  if (!parts) return undefined;
  const number = (name: string) => Number(parts[name] ?? 0);
  const day = dayNumber(number('year'), number('month'), number('day'));
  const [hour, minute, second] = [number('hour'), number('minute'), number('second')];
  const offsetS = readOffset(parts['zone'] ?? offset ?? '');
  if (day === undefined || offsetS === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  const milliseconds = Number((parts['fraction'] ?? '').slice(0, 3).padEnd(3, '0'));
  return (day * DAY_S + hour * 3_600 + minute * 60 + second - offsetS) * SECOND_MS + milliseconds;
}

/** An offset from UTC in seconds: `+03:00`, `-0330` or `Z`. */
export function readOffset(text: string): number | undefined {
  if (text === 'Z') return 0;
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? [];
  if (hours === undefined || Number(hours) > 14 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3_600 + Number(minutes) * 60);
}

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

/** The number of a day since the epoch; undefined for a day that the calendar does not have, or of another era. */
function dayNumber(year: number, month: number, day: number): number | undefined {
  const isLeap = (of: number) => of % 4 === 0 && (of % 100 !== 0 || of % 400 === 0);
  const days = (monthDays[month - 1] ?? 0) + (month === 2 && isLeap(year) ? 1 : 0);
  if (year < 2000 || year > 2199 || day < 1 || day > days) return undefined;
  const leaps = (until: number) => Math.floor(until / 4) - Math.floor(until / 100) + Math.floor(until / 400);
  const before = (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
  const months = monthDays.slice(0, month - 1).reduce<number>((sum, length) => sum + length, 0);
  return before + months + (month > 2 && isLeap(year) ? 1 : 0) + day - 1;
}
