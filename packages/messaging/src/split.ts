/**
 * Splits a group into two parts of about half its size such that no owner has items in both; undefined if all items are
 * one owner's. Without owners each item is its own owner. An owner's items keep their order.
 */
export function splitByOwner<Item>(
  group: readonly Item[],
  ownerOf?: (item: Item) => string,
): readonly [readonly Item[], readonly Item[]] | undefined {
  const half = group.length >> 1;
  if (half === 0) return undefined;
  if (!ownerOf) return [group.slice(0, half), group.slice(half)];
  const owners = [...Map.groupBy(group, ownerOf).values()];
  if (owners.length === 1) return undefined;
  const first: Item[] = [];
  const second: Item[] = [];
  for (const items of owners) {
    const part = first.length < half && items !== owners.at(-1) ? first : second;
    part.push(...items);
  }
  return [first, second];
}
