const BATCH = 500;

/** Groups what comes one by one, {@link BATCH} at a time. */
export async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncGenerator<readonly Item[]> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Reads a list page by page, each from after the last of the one before: nothing is held open at the server, however long
 * whoever reads takes for a page.
 */
export async function* inPages<Item>(
  read: (after: Item | undefined, limit: number) => Promise<readonly Item[]>,
): AsyncGenerator<readonly Item[]> {
  let after: Item | undefined;
  let page: readonly Item[];
  do {
    page = await read(after, BATCH);
    if (page.length > 0) yield page;
    after = page.at(-1);
  } while (page.length === BATCH);
}

/**
 * A page of a list that is ordered by two keys: what is left of the first key's value, then what follows it. Two queries, each
 * a range of an index; as one with `$or` MongoDB may read the documents as well.
 */
export async function inTwo<Item>(
  limit: number,
  left: (most: number) => Promise<readonly Item[]>,
  following: (most: number) => Promise<readonly Item[]>,
): Promise<readonly Item[]> {
  const first = await left(limit);
  return first.length >= limit ? first : [...first, ...(await following(limit - first.length))];
}
