import { midnightMs } from '@pesewa/kernel';
import type { TimeFormat } from './statement-mapping.ts';

const SECOND_MS = 1_000;

/** Years outside are typing errors or another era's. */
const [YEAR_MIN, YEAR_MAX] = [2000, 2199];

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
  const year = number('year');
  const dayMs = midnightMs(year, number('month'), number('day'));
  const [hour, minute, second] = [number('hour'), number('minute'), number('second')];
  const offsetS = readOffset(parts['zone'] ?? offset ?? '');
  if (dayMs === undefined || year < YEAR_MIN || year > YEAR_MAX) return undefined;
  if (offsetS === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  const milliseconds = Number((parts['fraction'] ?? '').slice(0, 3).padEnd(3, '0'));
  return dayMs + (hour * 3_600 + minute * 60 + second - offsetS) * SECOND_MS + milliseconds;
}

/** An offset from UTC in seconds: `+03:00`, `-0330` or `Z`. */
export function readOffset(text: string): number | undefined {
  if (text === 'Z') return 0;
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? [];
  if (hours === undefined || Number(hours) > 14 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3_600 + Number(minutes) * 60);
}
