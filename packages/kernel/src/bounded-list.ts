/** An item of a bounded list that tells of those before it that are no longer there. */
export interface Bounded {
  /** How many between the item before and this one are not kept; absent for none. */
  readonly notKept?: number;
  /** How many things this item stands for; absent for one. */
  readonly times?: number;
}

/**
 * Adds an item to a list that must not grow without end: the first ones are kept, since they tell how it began, and the
 * newest. What was between them is counted where the gap is, by the first of the newest.
 */
export function appendBounded<Item extends Bounded>(
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
