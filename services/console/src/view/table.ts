import { html } from 'hono/html';
import { attributes, type Content, type Html, link, nothing } from './html.ts';

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
  const shown = given.filter(([, value]) => value !== undefined);
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

/** Links to the first and the next page of a list; the parameters of the page are kept. */
export function pager(options: {
  readonly next: string | null;
  /** The path of the page that begins after this cursor; absent for the first one. */
  readonly pathAfter: (cursor: string | undefined) => string;
  readonly isFirst: boolean;
  /** What the links say; the newest comes first unless they say otherwise. */
  readonly words?: readonly [first: string, next: string];
}): Html {
  const { next, pathAfter, isFirst, words: [first, more] = ['Newest', 'Older'] } = options;
  if (isFirst && next === null) return nothing;
  return html`<nav class="pager" aria-label="Pages">${isFirst ? nothing : link(pathAfter(undefined), first)} ${next === null ? nothing : link(pathAfter(next), more)}</nav>`;
}
