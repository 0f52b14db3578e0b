import { needsOffset, offsetPattern, type TimeFormat, timeFormats } from '@pesewa/contracts';
import { midnightMs } from '@pesewa/kernel';

const SECOND_MS = 1_000;

/** Years outside are typing errors or another era's. */
const [YEAR_MIN, YEAR_MAX] = [2000, 2199];

const [Y, M, D] = [String.raw`(?<year>\d{4})`, String.raw`(?<month>\d{1,2})`, String.raw`(?<day>\d{1,2})`];
const clock = String.raw`(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?(?: ?(?<half>[ap])\.?m\.?)?`;
const form = (date: string, zone = '') => new RegExp(`^${date}(?:,? |T)${clock}${zone}$`, 'iu');

/** The formats with a day and a time; seconds may be missing, and hours may be of twelve, with AM or PM. */
const forms: Readonly<Partial<Record<TimeFormat, RegExp>>> = {
  ISO: form(`${Y}-${M}-${D}`, String.raw` ?(?<zone>Z|[+-]\d{2}(?::?\d{2})?)`),
  'YYYY-MM-DD HH:mm:ss': form(`${Y}-${M}-${D}`),
  'DD/MM/YYYY HH:mm:ss': form(`${D}/${M}/${Y}`),
  'MM/DD/YYYY HH:mm:ss': form(`${M}/${D}/${Y}`),
  'DD.MM.YYYY HH:mm:ss': form(String.raw`${D}\.${M}\.${Y}`),
  'DD-MM-YYYY HH:mm:ss': form(`${D}-${M}-${Y}`),
  'DD-MMM-YYYY HH:mm:ss': form(String.raw`${D}[-/ ](?<name>\p{L}{3,9})\.?[-/ ]${Y}`),
  YYYYMMDDHHmmss:
    /^(?<year>\d{4})(?<month>\d{2})(?<day>\d{2})(?<hour>\d{2})(?<minute>\d{2})(?<second>\d{2})$/,
};

/** How the names of months begin in English, French and Portuguese, without accents. */
const MONTHS = [
  /^jan/,
  /^fe[bv]/,
  /^mar/,
  /^a[bpv]r/,
  /^ma[iy]/,
  /^jun|^juin/,
  /^jul|^juil/,
  /^a[ug][ogu]|^aou/,
  /^se[pt]/,
  /^o[cu]t/,
  /^nov/,
  /^de[cz]/,
];

/**
 * Reads a time in milliseconds since the epoch; undefined for text that has another format or is no date of the
 * calendar.
 */
export function readTime(text: string, format: TimeFormat, offset: string | undefined): number | undefined {
  if (format === 'unix' || format === 'unixMs') return readUnix(text, format);
  const parts = forms[format]?.exec(text.replaceAll(/[\p{Zs}\t]+/gu, ' ').trim())?.groups;
  if (!parts) return undefined;
  const number = (name: string) => Number(parts[name] ?? 0);
  const year = number('year');
  const month = parts['name'] === undefined ? number('month') : monthOf(parts['name']);
  const dayMs = midnightMs(year, month, number('day'));
  const [hour, minute, second] = [hourOf(number('hour'), parts['half']), number('minute'), number('second')];
  const offsetS = readOffset(parts['zone'] ?? offset ?? '');
  if (dayMs === undefined || year < YEAR_MIN || year > YEAR_MAX) return undefined;
  if (offsetS === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  const milliseconds = Number((parts['fraction'] ?? '').slice(0, 3).padEnd(3, '0'));
  return dayMs + (hour * 3_600 + minute * 60 + second - offsetS) * SECOND_MS + milliseconds;
}

/** The formats in which a text is a time. */
export function timeFormatsOf(text: string): readonly TimeFormat[] {
  return timeFormats.filter(
    (format) => readTime(text, format, needsOffset(format) ? 'Z' : undefined) !== undefined,
  );
}

function readUnix(text: string, format: 'unix' | 'unixMs'): number | undefined {
  const [, whole, milliseconds = ''] = /^(\d{9,13})(?:\.(\d{1,3}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  if (format === 'unixMs') return milliseconds === '' ? Number(whole) : undefined;
  return whole.length > 10 ? undefined : Number(whole) * SECOND_MS + Number(milliseconds.padEnd(3, '0'));
}

/** The number of a month from 1; 0 if there is none of the name. */
function monthOf(name: string): number {
  const plain = name.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return MONTHS.findIndex((month) => month.test(plain)) + 1;
}

/** The hour of the day; above 23 if the clock has none such. */
function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined) return hour;
  const isOfTwelve = hour >= 1 && hour <= 12;
  return isOfTwelve ? (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number.POSITIVE_INFINITY;
}

/** An offset from UTC in seconds: `+03:00`, `-0330`, `+03` or `Z`. */
function readOffset(text: string): number | undefined {
  const found = offsetPattern.exec(text.toUpperCase());
  if (!found) return undefined;
  const [, sign, hours = 0, minutes = 0] = found;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3_600 + Number(minutes) * 60);
}
