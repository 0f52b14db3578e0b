import { pageId } from '@pesewa/contracts';
import type { ClientSession, Db } from 'mongodb';
import type { PagePostings, Tail } from './chains.ts';
import { pageMs, pagePostingIds } from './parse-page.ts';
import { collections, type EntryRecord, type PageRecord, type PostingRecord } from './records.ts';
import { type EarlierPostings, earlierIdOf, noEarlierPostings } from './refunds.ts';

/** Pages with their postings, and the earlier postings that those refer to. */
export interface Batch {
  readonly pages: readonly { readonly page: PageRecord; readonly postings: PagePostings }[];
  readonly earlier: EarlierPostings;
}

/** The part of each chain that is read: behind the tail, up to the head. */
interface Stretch {
  readonly heads: ReadonlyMap<string, bigint>;
  readonly tails: ReadonlyMap<string, Pick<Tail, 'number'>>;
}

// From zero, so that a page before the first is found too.
const firstOf = (tail: Pick<Tail, 'number'> | undefined): bigint => (tail ? tail.number + 1n : 0n);

const POSTINGS_PER_BATCH = 2_000;
const PAGES_PER_READ = 25;

/**
 * Reads the pages behind the tails, up to the heads: in about the order of their time across the chains, and each chain in its own order.
 * The next batch is read while the last one is checked.
 */
export async function* readPages(
  db: Db,
  { heads, tails }: Stretch,
  session: ClientSession,
): AsyncGenerator<Batch> {
  const batches = cutBatches(mergeBy(openChains(db, { heads, tails }, session), pageMs));
  let ahead = readBatch(db, await nextOf(batches), session);
  for (;;) {
    const batch = await ahead;
    if (!batch) return;
    ahead = nextOf(batches).then((pages) => readBatch(db, pages, session));
    // Awaited in the next round; a reader that stops early must not leave an unhandled rejection.
    ahead.catch(() => undefined);
    yield batch;
  }
}

function openChains(db: Db, { heads, tails }: Stretch, session: ClientSession): AsyncIterator<PageRecord>[] {
  const pages = db.collection<PageRecord>(collections.pages, { promoteBuffers: true });
  return [...heads].map(([chain, head]) =>
    pages
      .find(
        { _id: { $gte: pageId(chain, firstOf(tails.get(chain))), $lte: pageId(chain, head) } },
        { session, sort: { _id: 1 }, batchSize: PAGES_PER_READ },
      )
      [Symbol.asyncIterator](),
  );
}

async function* cutBatches(pages: AsyncIterable<PageRecord>): AsyncGenerator<readonly PageRecord[]> {
  let batch: PageRecord[] = [];
  let count = 0;
  for await (const page of pages) {
    batch.push(page);
    count += pagePostingIds(page).length;
    if (count < POSTINGS_PER_BATCH) continue;
    yield batch;
    batch = [];
    count = 0;
  }
  if (batch.length > 0) yield batch;
}

async function nextOf(
  batches: AsyncGenerator<readonly PageRecord[]>,
): Promise<readonly PageRecord[] | undefined> {
  const next = await batches.next();
  return next.done ? undefined : next.value;
}

async function readBatch(
  db: Db,
  pages: readonly PageRecord[] | undefined,
  session: ClientSession,
): Promise<Batch | undefined> {
  if (!pages) return undefined;
  const byId = await readPostings(db, pages.flatMap(pagePostingIds), session);
  const earlierIds = [...byId.values()].flatMap((posting) => earlierIdOf(posting) ?? []);
  const earlier = earlierIds.length > 0 ? await readPostings(db, earlierIds, session) : noEarlierPostings;
  return {
    pages: pages.map((page) => ({ page, postings: pagePostingIds(page).map((id) => byId.get(id)) })),
    earlier,
  };
}

/** The postings with these ids that exist, by their ids. */
export async function readPostings(
  db: Db,
  ids: readonly string[],
  session: ClientSession,
): Promise<ReadonlyMap<string, PostingRecord>> {
  const found = await db
    .collection<PostingRecord>(collections.postings)
    .find({ _id: { $in: ids } }, { session, batchSize: ids.length + 1 })
    .toArray();
  return new Map(found.map((posting) => [posting._id, withEntries(posting)]));
}

/**
 * A posting with a list of entries, whatever is stored, so that an audit can go on. What is no entry stays in its place as
 * an empty one: the hash and the number of entries cover it.
 */
function withEntries(posting: PostingRecord): PostingRecord {
  const stored: unknown = posting.entries;
  return { ...posting, entries: Array.isArray(stored) ? (stored as unknown[]).map(asEntry) : [] };
}

const asEntry = (value: unknown): EntryRecord =>
  (typeof value === 'object' && value !== null ? value : {}) as EntryRecord;

/** Merges streams by a key that ascends within each; equal keys come in the order of the streams. */
async function* mergeBy<Item>(
  streams: readonly AsyncIterator<Item>[],
  keyOf: (item: Item) => number,
): AsyncGenerator<Item> {
  const fronts: { readonly stream: AsyncIterator<Item>; item: Item; key: number }[] = [];
  for (const stream of streams) {
    const first = await stream.next();
    if (!first.done) fronts.push({ stream, item: first.value, key: keyOf(first.value) });
  }
  while (fronts.length > 0) {
    const least = fronts.reduce((best, front) => (front.key < best.key ? front : best));
    yield least.item;
    const next = await least.stream.next();
    if (next.done) fronts.splice(fronts.indexOf(least), 1);
    else {
      least.item = next.value;
      least.key = keyOf(next.value);
    }
  }
}
