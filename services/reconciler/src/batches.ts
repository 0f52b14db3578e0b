const BATCH = 500;

/** Groups the items of a stream into batches of {@link BATCH}. */
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
 * Reads a list in pages, each beginning after the last item of the one before. Nothing stays open at the server,
 * however long the reader takes for a page.
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
 * A page of a list that is ordered by two keys: first the rest with the same first key, then what follows. Two queries,
 * each over a range of an index; with one `$or` query MongoDB might read the documents too.
 */
export async function inTwo<Item>(
  limit: number,
  left: (most: number) => Promise<readonly Item[]>,
  following: (most: number) => Promise<readonly Item[]>,
): Promise<readonly Item[]> {
  const first = await left(limit);
  return first.length >= limit ? first : [...first, ...(await following(limit - first.length))];
}
