import { displayAmount, memoise } from '@pesewa/kernel';
import { inWords, nextDay, showTime, startOfDay } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { parse, stringify } from 'lossless-json';
import { z } from 'zod';
import { dash, type Html, link, sign } from './html.ts';

/** How a page shows times. */
export interface TimeView {
  /** A name of the IANA database. */
  readonly zone: string;
  readonly nowMs: number;
}

/** An amount in decimal text as people read it, such as `2,468.40 KES`; with a path it leads to what it is made of. */
export function amount(text: string | null | undefined, currency: string | null, path?: string): Html {
  if (text === null || text === undefined || text === '') return dash;
  const shown = html`<span class="amount">${displayAmount(text, currency ?? '')}</span>`;
  return path === undefined ? shown : link(path, shown);
}

/**
 * An amount as the operator APIs take it: without what stands between its thousands, so `1,234.56` and `1 234.56` are
 * `1234.56`; any other text stays as it is.
 */
export function plainAmount(text: string): string {
  const isGrouped = /^[+-]?\d{1,3}(?:([, \u00a0\u202f])\d{3})(?:\1\d{3})*(?:\.\d+)?$/.test(text);
  return isGrouped ? text.replaceAll(/[, \u00a0\u202f]/g, '') : text;
}

/** How many there are; with `isCut` at least so many. */
interface Count {
  readonly count: number;
  readonly isCut?: boolean;
}

const digits = (found: number | Count) => {
  const known: Count = typeof found === 'number' ? { count: found } : found;
  return `${known.count.toLocaleString('en-GB')}${known.isCut === true ? '+' : ''}`;
};

/** A count with groups of digits; one that stopped at a limit has a plus. */
export function count(found: number | Count, path?: string): Html {
  return path === undefined ? html`${digits(found)}` : link(path, digits(found));
}

/** A count with what is counted, such as `1 payout` or `2,000 payouts`; `several` is what ends in more than an s. */
export function counted(found: number | Count, one: string, several = `${one}s`): string {
  const number = digits(found);
  return `${number} ${number === '1' ? one : several}`;
}

/** Some of what was chosen, such as `this webhook` or `these 2 webhooks`. */
export const these = (number: number, one: string): string =>
  number === 1 ? `this ${one}` : `these ${counted(number, one)}`;

/** A time such as `27/11/2026 14:05:09`, in the zone of the pages; the element has it in UTC. */
export function time(at: string | null | undefined, { zone }: TimeView): Html {
  if (at === null || at === undefined) return dash;
  return html`<time datetime="${at}" title="${at}">${timeText(at, zone)}</time>`;
}

const ISO_TIME = /(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)/;

/** A message with its times of ISO 8601 written as pages write times. */
export const withTimes = (message: string, { zone }: TimeView): string =>
  message
    .split(ISO_TIME)
    .map((part, index) => (index % 2 === 1 && !Number.isNaN(Date.parse(part)) ? timeText(part, zone) : part))
    .join('');

/** A text that somebody else wrote; the times of ISO 8601 in it are shown as pages show times. */
export function words(text: string | null | undefined, times: TimeView): Html {
  if (text === null || text === undefined || text === '') return dash;
  const shown = (part: string, index: number) =>
    index % 2 === 1 && !Number.isNaN(Date.parse(part)) ? time(part, times) : part;
  return html`<bdi>${text.split(ISO_TIME).map(shown)}</bdi>`;
}

const formatOf = memoise(
  (timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      day: '2-digit',
      month: '2-digit',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    }),
);

/** A time as text, in a zone. */
export const timeText = (at: string, zone: string): string =>
  formatOf(zone).format(new Date(at)).replace(',', '');

/**
 * The moment, in UTC, of a day or a time of a zone as pages write it, such as `27/11/2026` or `27/11/2026 14:05:09`, or as
 * ISO 8601; undefined if it is none. A day is its beginning, or its end.
 */
export function readTime(text: string, zone: string, of: 'begin' | 'end' = 'begin'): string | undefined {
  const iso = text.replace(/^(\d\d)\/(\d\d)\/(\d{4})(?= |$)/, '$3-$2-$1');
  const [day = '', clock, ...rest] = iso.split(' ');
  if (rest.length > 0) return undefined;
  // Any other way of writing it has more than one meaning: 1/2/2026 is a day of January or of February.
  if (/^\d{4}-\d\d-\d\dT\S+(?:Z|[+-]\d\d:\d\d)$/.test(iso))
    return Number.isNaN(Date.parse(iso)) ? undefined : new Date(iso).toISOString();
  if (!z.iso.date().safeParse(day).success) return undefined;
  if (clock === undefined) return startOfDay(of === 'end' ? nextDay(day) : day, zone).toISOString();
  const asUtcMs = Date.parse(/^\d\d:\d\d(:\d\d)?$/.test(clock) ? `${day}T${clock}Z` : '');
  if (Number.isNaN(asUtcMs)) return undefined;
  const local = (atMs: number) =>
    Date.parse(`${showTime(new Date(atMs).toISOString(), zone).slice(0, 19).replace(' ', 'T')}Z`);
  const guessMs = 2 * asUtcMs - local(asUtcMs);
  return new Date(guessMs + asUtcMs - local(guessMs)).toISOString();
}

/** How long ago a time was, such as `3 h`, with the time itself beside it for those who point at it. */
export function age(at: string | null | undefined, { zone, nowMs }: TimeView): Html {
  if (at === null || at === undefined) return html`never`;
  return html`<time datetime="${at}" title="${timeText(at, zone)}">${lengthText(nowMs - Date.parse(at))}</time>`;
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** A length of time in its largest unit, such as `3 h`. */
function lengthText(lengthMs: number): string {
  const [ms, name] = UNITS.find(([unitMs]) => lengthMs >= unitMs) ?? [1_000, 's'];
  return `${Math.max(0, Math.floor(lengthMs / ms))} ${name}`;
}

const good = new Set(
  'active COMPLETED applied approved resolved booked matched delivered done up healthy replayed succeeded verified continues'.split(
    ' ',
  ),
)
  // As two people wanted it.
  .add('discarded');
const bad = new Set(
  'suspended FAILED REVERSED refused rejected failed exhausted disabled differs not_at_rail not_in_books not_on_statement down stopped out_of_range'.split(
    ' ',
  ),
);

/** A state as a word with a sign: nobody needs to tell colours apart. */
export function state(code: string): Html {
  const kind = good.has(code) ? 'good' : bad.has(code) ? 'bad' : 'open';
  return html`<span class="state ${kind}">${sign(kind)} ${inWords(code)}</span>`;
}

/** A JSON text with each of its values on a line of its own, as it is written; any other text stays as it is. */
export function indentJson(text: string): string {
  try {
    return stringify(parse(text), undefined, 2) ?? text;
  } catch {
    return text;
  }
}
