import { html } from 'hono/html';
import { part, type Visit } from '../visits.ts';
import { type Field, filters } from './form.ts';
import { type Content, type Html, link, nothing, pathOf } from './html.ts';
import { type Columns, pager, tableOf } from './table.ts';

/** A list that is read page by page. */
export interface Listing<Item> {
  /** The page's path, without its query. */
  readonly path: readonly string[];
  readonly caption: string;
  /** What narrows it; each is a parameter of the address by its name. */
  readonly fields?: readonly Field[];
  /** Parameters of the address that stay from page to page, besides the fields. */
  readonly kept?: readonly string[];
  readonly read: (
    cursor: string | undefined,
  ) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>;
  readonly columns: Columns<Item> | ((items: readonly Item[]) => Columns<Item>);
  /** What would stand here, and what to do; shown if nothing narrows the list. */
  readonly empty: Content;
  /** What the links to its pages say; the newest comes first unless they say otherwise. */
  readonly words?: readonly [first: string, next: string];
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
  const cursor = query('cursor');
  const keptAlone = Object.fromEntries(kept.map((name) => [name, query(name)]));
  const empty = isNarrowed
    ? html`Nothing matches. ${link(pathOf(path, keptAlone), 'Clear the filters')}`
    : listing.empty;
  const read = async () => {
    const { items, next } = await listing.read(cursor);
    const pages = pager({
      next,
      pathAfter: (after) => pathOf(path, { ...asked, cursor: after }),
      isFirst: cursor === undefined,
      ...(listing.words && { words: listing.words }),
    });
    const columns = typeof listing.columns === 'function' ? listing.columns(items) : listing.columns;
    return html`${around(tableOf(listing.caption, items, columns, empty), items)}${pages}`;
  };
  const narrow =
    fields.length === 0
      ? nothing
      : filters({ action: pathOf(path), label: listing.caption, fields, hidden: keptAlone });
  return part(read()).then((list) => html`${narrow}${list}`);
}
