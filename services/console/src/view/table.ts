import { html } from 'hono/html';
import { momentOf, part, type Visit } from '../visits.ts';
import { type Field, filters } from './form.ts';
import { attributes, type Content, dash, type Html, link, nothing, pathOf } from './html.ts';

/** The columns of a table: the title of each, what it shows of an item, and whether that is a number; false leaves one out. */
export type Columns<Item> = readonly (
  | readonly [title: string, cell: (item: Item, index: number) => Content, is?: 'number']
  | false
)[];

/** A cell of two lines: what it is about, and something less important below it. */
export const twoLines = (first: Content, second: Content): Html => html`${first}<br><small>${second}</small>`;

/** A table of items, by its columns; without items it says what would stand here, and what to do. */
export function tableOf<Item>(
  caption: string,
  items: readonly Item[],
  columns: Columns<Item>,
  empty: Content,
): Html {
  if (items.length === 0) return html`<p class="empty">${empty}</p>`;
  const shown = columns.filter((column) => column !== false);
  const align = (is: 'number' | undefined) => attributes({ class: is });
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${caption}"><table>
<caption>${caption}</caption>
<thead><tr>${shown.map(([title, , is]) => html`<th scope="col"${align(is)}>${title}</th>`)}</tr></thead>
<tbody>${items.map(
    (item, index) =>
      html`<tr>${shown.map(([, cell, is]) => html`<td${align(is)}>${cell(item, index)}</td>`)}</tr>`,
  )}</tbody>
</table></div>`;
}

/** Facts of one object: names beside values; absent values are left out. */
export function facts(given: readonly (readonly [name: string, value: Content])[]): Html {
  const shown = given.filter(([, value]) => value !== undefined && value !== null && value !== dash);
  return html`<dl class="facts">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The columns of a table as facts of one item. */
export const cells = <Item>(columns: Columns<Item>, item: Item) =>
  columns.flatMap((column) => (column === false ? [] : [[column[0], column[1](item, 0)] as const]));

/** Links to the views of a page; the one that is shown says so. */
export function tabs(
  label: string,
  views: readonly (readonly [path: string, text: Content, isShown?: boolean])[],
): Html {
  const current = (isShown: boolean) => attributes({ 'aria-current': isShown ? 'page' : undefined });
  return html`<nav class="tabs" aria-label="${label}">${views.map(([path, text, isShown = false]) => html`<a href="${path}"${current(isShown)}>${text}</a>`)}</nav>`;
}

/** Links to the first and the next page of a list; `pathAfter` gives the path of the page after a cursor, or of the first one. */
export function pager(
  visit: Visit,
  next: string | null,
  pathAfter: (cursor: string | undefined) => string,
): Html {
  const isFirst = visit.query('cursor') === undefined;
  if (isFirst && next === null) return nothing;
  return html`<nav class="pager" aria-label="Pages">${!isFirst && link(pathAfter(undefined), 'First page')} ${next !== null && link(pathAfter(next), 'Next page')}</nav>`;
}

/** A list that is read page by page. */
interface Listing<Item> {
  /** The page's path, without its query. */
  readonly path: readonly string[];
  readonly caption: string;
  /** What narrows it; each is a parameter of the address by its name. */
  readonly fields?: readonly Field[];
  /** Parameters of the address that stay from page to page, besides the fields. */
  readonly kept?: readonly string[];
  /** Reads a page of it, with the values of the fields; `from` and `to` are times in UTC. */
  readonly read: (
    cursor: string | undefined,
    asked: Readonly<Record<string, string | undefined>>,
  ) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>;
  readonly columns: Columns<Item> | ((items: readonly Item[]) => Columns<Item>);
  /** What would stand here, and what to do; shown if nothing narrows the list. */
  readonly empty: Content;
  /** What stands around the table, such as a form to choose rows. */
  readonly around?: (table: Html, items: readonly Item[]) => Html;
}

/** What narrows a list, a page of it, and the links to its other pages; a service that gives no answer is named. */
export function listOf<Item>(visit: Visit, listing: Listing<Item>): Promise<Html> {
  const { query } = visit;
  const { path, fields = [], kept = [], around = (table) => table } = listing;
  const names = [...fields.map(({ name }) => name), ...kept];
  const asked = Object.fromEntries(names.map((name) => [name, query(name)]));
  const isNarrowed = fields.some(({ name }) => query(name) !== undefined);
  const keptAlone = Object.fromEntries(kept.map((name) => [name, query(name)]));
  const empty = isNarrowed
    ? html`Nothing matches. ${link(pathOf(path, keptAlone), 'Clear the filters')}`
    : listing.empty;
  const read = async () => {
    const valueOf = (name: string) =>
      name === 'from' || name === 'to' ? momentOf(visit, query, name) : query(name);
    const values = Object.fromEntries(fields.map(({ name }) => [name, valueOf(name)]));
    const { items, next } = await listing.read(query('cursor'), values);
    const pages = pager(visit, next, (after) => pathOf(path, { ...asked, cursor: after }));
    const columns = typeof listing.columns === 'function' ? listing.columns(items) : listing.columns;
    return html`${around(tableOf(listing.caption, items, columns, empty), items)}${pages}`;
  };
  const narrow =
    fields.length === 0
      ? nothing
      : filters(query, { action: pathOf(path), label: listing.caption, fields, hidden: keptAlone });
  return part(read()).then((list) => html`${narrow}${list}`);
}
