/** An item of a bounded list, which counts the dropped items before it. */
export interface BoundedItem {
  /** How many items between the one before and this one were dropped; absent for none. */
  readonly notKept?: number;
  /** How many equal items this one stands for; absent for one. */
  readonly times?: number;
}

/**
 * Adds an item to a list that must not grow without end. The first items are kept, because they show how it began,
 * and so are the newest. The first of the newest counts the items dropped before it.
 */
export function appendBounded<Item extends BoundedItem>(
  items: readonly Item[],
  item: Item,
  keep: { readonly first: number; readonly newest: number },
): readonly Item[] {
  const all = [...items, item];
  const gapEnd = all.length - keep.newest;
  const next = all[gapEnd];
  if (gapEnd <= keep.first || next === undefined) return all;
  let notKept = next.notKept ?? 0;
  for (const gone of all.slice(keep.first, gapEnd)) notKept += (gone.times ?? 1) + (gone.notKept ?? 0);
  return [...all.slice(0, keep.first), { ...next, notKept }, ...all.slice(gapEnd + 1)];
}
