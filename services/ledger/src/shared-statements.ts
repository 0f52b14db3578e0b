import type { ClientSession, Collection, Db, Filter } from 'mongodb';
import {
  type BucketDocument,
  bucketId,
  collectionNames,
  type PageDocument,
  type PostingDocument,
} from './documents.ts';
import { balanceOf, type Turnover } from './domain/accounts.ts';
import {
  type Period,
  type SharedPlace,
  type StatedEntry,
  type Statement,
  type StatementPage,
  type Sums,
  statedEntriesOf,
} from './statement.ts';

interface SharedItem {
  readonly entry: StatedEntry;
  readonly amount: Sums;
  readonly after: Sums;
  readonly place: SharedPlace;
}

/** How many postings are read at once. */
const IDS_PER_READ = 1_000;

/** One account and the session that reads it. */
interface Reading {
  readonly account: string;
  readonly pages: Collection<PageDocument>;
  readonly postings: Collection<PostingDocument>;
  readonly session: ClientSession;
}

/**
 * Builds the reader of shared accounts' statements. Each page has its chain's totals, so a balance at any time needs
 * one line of each chain. Entries of several chains are in the order of their time; entries of the same time in the
 * order of their pages.
 */
export function createSharedStatements(db: Db) {
  const buckets = db.collection<BucketDocument>(collectionNames.buckets);
  const pages = db.collection<PageDocument>(collectionNames.pages);
  const postings = db.collection<PostingDocument>(collectionNames.postings);
  return async (
    account: string,
    { from, to }: Period,
    page: StatementPage<SharedPlace>,
    session: ClientSession,
  ): Promise<Statement<SharedPlace> | undefined> => {
    const chains = await chainsOf(buckets, account, session);
    if (chains.length === 0) return undefined;
    const reading: Reading = { account, pages, postings, session };
    const first = { atMs: from.getTime(), pageId: '', position: -1 };
    const opening = await balanceBefore(reading, chains, first);
    const closing = await balanceBefore(reading, chains, { atMs: to.getTime(), pageId: '' });
    const start = page.after ?? first;
    const balance = page.after ? await balanceBefore(reading, chains, start) : opening;
    const found = await itemsAfter(reading, { start, to, chains }, { limit: page.limit + 1, balance });
    const items = found.slice(0, page.limit);
    const next = found.length > page.limit ? items.at(-1)?.place : undefined;
    return { opening: { balance: opening }, closing: { balance: closing }, items, next };
  };
}

/** Reads what was debited and credited to a shared account within a period, from two lines of each chain. */
export async function readTurnover(
  db: Db,
  account: string,
  { from, to }: Period,
  session: ClientSession,
): Promise<Turnover> {
  const chains = await chainsOf(db.collection<BucketDocument>(collectionNames.buckets), account, session);
  const reading: Reading = {
    account,
    pages: db.collection<PageDocument>(collectionNames.pages),
    postings: db.collection<PostingDocument>(collectionNames.postings),
    session,
  };
  const before = await turnoverBefore(reading, chains, { atMs: from.getTime(), pageId: '' });
  const after = await turnoverBefore(reading, chains, { atMs: to.getTime(), pageId: '' });
  return { debits: after.debits - before.debits, credits: after.credits - before.credits };
}

async function chainsOf(
  buckets: Collection<BucketDocument>,
  account: string,
  session: ClientSession,
): Promise<readonly string[]> {
  const first = bucketId(account, '');
  const found = await buckets.find({ _id: { $gte: first, $lt: `${account}$` } }, { session }).toArray();
  return found.map(({ _id }) => _id.slice(first.length));
}

/** The balance right before this place. */
async function balanceBefore(
  reading: Reading,
  chains: readonly string[],
  place: Omit<SharedPlace, 'position'>,
): Promise<bigint> {
  return balanceOf(reading.account, await turnoverBefore(reading, chains, place));
}

/** All debits and credits before this place. */
async function turnoverBefore(
  { account, pages, session }: Reading,
  chains: readonly string[],
  place: Omit<SharedPlace, 'position'>,
): Promise<Turnover> {
  let [debits, credits] = [0n, 0n];
  const at = new Date(place.atMs);
  const earlier = { at: { $lte: at }, $or: [{ at: { $lt: at } }, { _id: { $lt: place.pageId } }] };
  for (const chain of chains) {
    const last = await pages.findOne(
      { 'accounts.account': account, chain, ...earlier },
      { session, sort: { at: -1, _id: -1 }, projection: { accounts: { $elemMatch: { account } } } },
    );
    const line = last?.accounts[0];
    debits += line?.debitsAfter ?? 0n;
    credits += line?.creditsAfter ?? 0n;
  }
  return { debits, credits };
}

interface Stretch {
  readonly start: SharedPlace;
  readonly to: Date;
  readonly chains: readonly string[];
}

/** The items after the place, up to a number; earlier items of the same page are only added to the balance. */
async function itemsAfter(
  reading: Reading,
  stretch: Stretch,
  wanted: { readonly limit: number; readonly balance: bigint },
): Promise<readonly SharedItem[]> {
  const { start } = stretch;
  const items: SharedItem[] = [];
  let { balance } = wanted;
  const add = async (batch: readonly PageDocument[]) => {
    for (const { entry, place } of await movementsOn(reading, batch)) {
      const moved = movedOf(entry, reading.account);
      balance += moved;
      if (place.pageId === start.pageId && place.position <= start.position) continue;
      items.push({ entry, place, amount: { balance: moved }, after: { balance } });
    }
  };
  let batch: PageDocument[] = [];
  let ids = 0;
  const following = reading.pages
    .find(pagesFrom(reading.account, stretch), { session: reading.session })
    .project<PageDocument>({ at: 1, postings: 1 })
    .sort({ at: 1, _id: 1 });
  for await (const page of following) {
    batch.push(page);
    ids += page.postings.length;
    if (ids < IDS_PER_READ) continue;
    await add(batch);
    batch = [];
    ids = 0;
    if (items.length >= wanted.limit) break;
  }
  await add(batch);
  return items.slice(0, wanted.limit);
}

/** The account's entries on the pages, in order. */
async function movementsOn({ account, postings, session }: Reading, batch: readonly PageDocument[]) {
  const ids = batch.flatMap((page) => page.postings);
  const touching = { _id: { $in: ids }, $or: [{ 'entries.debit': account }, { 'entries.credit': account }] };
  const found = await postings.find(touching, { session, batchSize: ids.length + 1 }).toArray();
  const byId = new Map(found.map((posting) => [posting._id, posting]));
  return batch.flatMap((page) =>
    page.postings
      .flatMap((id) => byId.get(id) ?? [])
      .flatMap(statedEntriesOf)
      .filter(({ debit, credit }) => debit === account || credit === account)
      .map((entry, position) => ({ entry, place: { atMs: page.at.getTime(), pageId: page._id, position } })),
  );
}

function pagesFrom(account: string, { start, to, chains }: Stretch): Filter<PageDocument> {
  const at = new Date(start.atMs);
  return {
    'accounts.account': account,
    chain: { $in: chains },
    at: { $gte: at, $lt: to },
    $or: [{ at: { $gt: at } }, { _id: { $gte: start.pageId } }],
  };
}

function movedOf({ debit, credit, amount }: StatedEntry, account: string): bigint {
  const debits = debit === account ? amount : 0n;
  const credits = credit === account ? amount : 0n;
  return balanceOf(account, { debits, credits });
}
