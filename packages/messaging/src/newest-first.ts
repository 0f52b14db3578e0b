import type { PageCursor } from '@pesewa/runtime';

/** What narrows a list that shows the newest first to what comes after a cursor. */
export function afterCursor<Field extends string>(field: Field, cursor: PageCursor | undefined) {
  if (!cursor) return {};
  const at = new Date(cursor.atMs);
  return { $or: [{ [field]: { $lt: at } }, { [field]: at, _id: { $lt: cursor.id } }] };
}

/** Where the page after a full one begins; a list ends with a page that is not full. */
export function nextCursor<Item extends { readonly _id: string }>(
  found: readonly Item[],
  limit: number,
  atOf: (item: Item) => Date,
): PageCursor | null {
  const last = found.length === limit ? found.at(-1) : undefined;
  return last ? { atMs: atOf(last).getTime(), id: last._id } : null;
}
