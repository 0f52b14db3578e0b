import type { PageCursor } from '@pesewa/contracts';

/** The filter for the items behind a cursor in a list that shows the newest first. */
export function afterCursor<Field extends string>(field: Field, cursor: PageCursor | undefined) {
  if (!cursor) return {};
  const at = new Date(cursor.atMs);
  return { $or: [{ [field]: { $lt: at } }, { [field]: at, _id: { $lt: cursor.id } }] };
}

/** The cursor of the next page; undefined after a page that is not full, which is the last one. */
export function nextCursor<Item extends { readonly _id: string }>(
  found: readonly Item[],
  limit: number,
  atOf: (item: Item) => Date,
): PageCursor | null {
  const last = found.length === limit ? found.at(-1) : undefined;
  return last ? { atMs: atOf(last).getTime(), id: last._id } : null;
}
