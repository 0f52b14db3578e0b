import { displayAmount } from '@pesewa/kernel';
import { inWords, nextDay, RefusedError, startOfDay } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { z } from 'zod';
import { attributes, type Content, dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { section } from '../view/layout.ts';
import { pager, table } from '../view/table.ts';
import { count, type TimeView, timeText } from '../view/values.ts';
import type { Visit } from '../visits.ts';

/** A column of numbers. */
export const numbers = (title: string) => ({ title, isNumber: true }) as const;

/** A text if it is one of these; undefined otherwise. */
export const oneOf = <Value extends string>(
  values: readonly Value[],
  text: string | undefined,
): Value | undefined => values.find((value) => value === text);

/** A form, or which role it takes. */
export function formFor(visit: Visit, what: string, shown: () => Html): Html {
  return visit.may('operator') ? shown() : html`<p class="empty">${what} takes the role operator.</p>`;
}

/** A period to the minute, in the zone of the pages. */
export function periodText(from: string | null, to: string | null, { zone }: TimeView): string {
  const text = (at: string | null) => (at === null ? 'the first line' : timeText(at, zone).slice(0, 16));
  return `${text(from)} to ${to === null ? 'the last one' : text(to)}`;
}

/** The period of days in the zone of the pages; absent days leave it open. */
export function daysOf(
  from: string | undefined,
  to: string | undefined,
  { zone }: TimeView,
): { readonly from?: string; readonly to?: string } {
  const start = (day: string) => startOfDay(day, zone).toISOString();
  for (const day of [from, to])
    if (day !== undefined && !z.iso.date().safeParse(day).success)
      throw new RefusedError('from and to must be days such as 2026-11-20', 422);
  return { ...(from && { from: start(from) }), ...(to && { to: start(nextDay(to)) }) };
}

/** The rails that are compared, for a choice. */
export function railOptions(
  wallets: readonly { readonly rail: string; readonly configured: boolean }[],
): readonly (readonly [string, string])[] {
  const rails = new Set(wallets.filter(({ configured }) => configured).map(({ rail }) => rail));
  return [...rails].map((rail) => [rail, rail] as const);
}

/** What one side says: the status, and the amount and the fee as far as they are known. */
export function side(
  given: { readonly status: string | null; readonly amount: string | null; readonly fee: string | null },
  currency: string | null,
): Content {
  const { status, amount, fee } = given;
  const parts = [
    ...(status === null ? [] : [inWords(status)]),
    ...(amount === null ? [] : [displayAmount(amount, currency ?? '')]),
    ...(fee === null ? [] : [`fee ${displayAmount(fee, currency ?? '')}`]),
  ];
  return parts.length === 0 ? dash : foreign(parts.join(', '));
}

/** Links to breaks, by their ids. */
export function breakLinks(ids: readonly (string | null)[]): Content {
  const known = ids.filter((id) => id !== null);
  const field = (id: string) => inWords(id.split('/').at(-1) ?? id);
  return known.map((id) => html`${link(pathOf(['breaks', id]), `break: ${field(id)}`)} `);
}

/** The counts of a run's results; each leads to its records. */
export function resultLinks(
  path: readonly string[],
  results: Readonly<Record<string, number>> | null,
  chosen?: string,
): Content {
  const found = Object.entries(results ?? {}).filter(([, number]) => number > 0);
  if (found.length === 0) return results === null ? 'not known yet' : 'none';
  const all = found.reduce((sum, [, number]) => sum + number, 0);
  const tab = (result: string | undefined, number: number, words: string) =>
    html`<a href="${pathOf(path, { result })}"${attributes({ 'aria-current': result === chosen ? 'page' : undefined })}>${count({ count: number })} ${words}</a>`;
  return html`<nav class="tabs" aria-label="Results of ${path.at(-1) ?? ''}">${found.map(([result, number]) => tab(result, number, inWords(result)))} ${tab(undefined, all, 'in all')}</nav>`;
}

/** The records of a run, of one result or all: a page of them, and the export of all. */
export function recordSection<Item>(
  visit: Visit,
  options: {
    readonly path: readonly string[];
    readonly title: string;
    readonly page: { readonly items: readonly Item[]; readonly next: string | null };
    readonly isDone: boolean;
    readonly columns: Parameters<typeof table>[0]['columns'];
    readonly rowOf: (item: Item) => readonly Content[];
  },
): Html {
  const { path, title, page, isDone, columns, rowOf } = options;
  const result = visit.query('result');
  const shown = result === undefined ? title : `${title}: ${inWords(result)}`;
  const clear = html` ${link(pathOf(path), 'Show all')}`;
  const body = html`${table({
    caption: shown,
    columns,
    rows: page.items.map(rowOf),
    empty: html`Nothing here${isDone ? '' : ' yet'}.${result === undefined ? nothing : clear}`,
  })}${pager({
    next: page.next,
    isFirst: visit.query('cursor') === undefined,
    pathAfter: (cursor) => pathOf(path, { result, cursor }),
  })}`;
  const whole = [pathOf([...path, 'export'], { result }), 'Download these as CSV'] as const;
  return isDone ? section(shown, body, whole) : section(shown, body);
}
