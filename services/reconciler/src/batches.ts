import type { Messaging, Transaction } from '@pesewa/messaging';
import { type Collection, type Filter, type FindCursor, MongoServerError, type WithId } from 'mongodb';

const BATCH = 500;
const MAX_TIME_EXPIRED = 50;

/** Commits items one at a time, each retried in place: they are few, and a conflicting one waits for the other. */
export function commitEach<Item, Outcome>(
  { groupCommit }: Pick<Messaging, 'groupCommit'>,
  name: string,
  work: (item: Item, transaction: Transaction) => Promise<Outcome>,
): (item: Item) => Promise<Outcome> {
  const apply = (items: readonly Item[], transaction: Transaction) =>
    Promise.all(items.map((item) => work(item, transaction)));
  return groupCommit(name, apply, { itemsMax: 1 }).submit;
}

/** Groups the items of a stream into batches. */
export async function* inBatches<Item>(
  items: AsyncIterable<Item>,
  size = BATCH,
): AsyncGenerator<readonly Item[]> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Reads a list in pages, each beginning after the last item of the one before, the first after `first`. Nothing stays open
 * at the server, however long the reader takes for a page.
 */
export async function* inPages<Item>(
  read: (after: Item | undefined, limit: number) => Promise<readonly Item[]>,
  first?: Item,
): AsyncGenerator<readonly Item[]> {
  let after = first;
  let page: readonly Item[];
  do {
    page = await read(after, BATCH);
    if (page.length > 0) yield page;
    after = page.at(-1);
  } while (page.length === BATCH);
}

/**
 * Reads documents in the order of their time and then of their key, in pages: all in a range of time, or those `after` one.
 *
 * The rest with the same time, and what follows, are two queries, each over a range of an index; with one `$or` query
 * MongoDB might read the documents too.
 */
export function inPagesBy<Row extends object>(
  time: keyof Row & string,
  key: keyof Row & string,
  {
    $gte,
    after: first,
    ...until
  }: { readonly $gte?: Date; readonly $lt?: Date; readonly $lte?: Date; readonly after?: Partial<Row> },
  find: (where: object) => FindCursor<Row>,
): AsyncGenerator<readonly Row[]> {
  const read = (where: object, limit: number) =>
    find(where)
      .sort({ [time]: 1, [key]: 1 })
      .limit(limit)
      .toArray();
  return inPages<Row>(
    async (after, limit) => {
      if (!after) return read({ [time]: { ...($gte && { $gte }), ...until } }, limit);
      const same = await read({ [time]: after[time], [key]: { $gt: after[key] } }, limit);
      if (same.length >= limit) return same;
      return [...same, ...(await read({ [time]: { $gt: after[time], ...until } }, limit - same.length))];
    },
    // Only its time and its key are read.
    first as Row | undefined,
  );
}

/** Which page of a list is read; the cursor is the key of the last item on the page before. */
export interface NewestQuery {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** A page of documents whose keys grow with time, the newest first, and the cursor of the next one. */
export async function newest<Row extends { readonly _id: string }>(
  collection: Collection<Row>,
  filter: Filter<Row>,
  { cursor, limit }: NewestQuery,
): Promise<{ readonly items: readonly WithId<Row>[]; readonly next: string | null }> {
  const found = await collection
    .find({ ...filter, ...(cursor !== undefined && { _id: { $lt: cursor } }) } as Filter<Row>)
    .sort({ _id: -1 })
    .limit(limit + 1)
    .toArray();
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? (items.at(-1)?._id ?? null) : null };
}

/** Whether a query took longer than it may. */
function isOutOfTime(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === MAX_TIME_EXPIRED;
}

/** How long counting may take while a caller waits. */
export const COUNT_TIMEOUT_MS = 8_000;

/** What a query gives; null if it took too long. */
export async function inTime<Value>(query: Promise<Value>): Promise<Value | null> {
  try {
    return await query;
  } catch (error) {
    if (isOutOfTime(error)) return null;
    throw error;
  }
}
