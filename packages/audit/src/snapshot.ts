import type { ClientSession, Db } from 'mongodb';
import type { Balances } from './audit.ts';
import type { Findings } from './findings.ts';
import { createIdSum, type IdKey, type IdSum } from './id-sum.ts';
import { pageIdEnding, readPageId } from './parse-page.ts';
import { type BucketRecord, collections, type PageRecord, type WalletRecord } from './records.ts';

/** The ledger's stored state at one moment. */
export interface LedgerSnapshot extends Balances {
  /** Everything that is stored; absent where it was not asked for. */
  readonly stored?: StoredIds;
  /** The moment by the database's clock, in milliseconds since the epoch. */
  readonly atMs: number;
  /** The same as the database counts it. */
  readonly clusterTime: bigint;
}

/** How many pages are stored, and the sum of all postings' ids, to compare with the sum of those on pages. */
export interface StoredIds {
  readonly pageCount: number;
  readonly postingIds: IdSum;
}

const IDS_PER_READ = 20_000;

/**
 * Reads balances, heads and the ids of postings as of one moment, so that a ledger that keeps writing causes no
 * contradictions. The sessions of `openSession` see at least that moment, even on a secondary that lags.
 */
export async function readSnapshot(
  ledger: Db,
  findings: Findings,
  ids?: { readonly key: IdKey; readonly onRead: (count: number) => void },
): Promise<{ readonly moment: LedgerSnapshot; readonly openSession: () => ClientSession }> {
  const { client } = ledger;
  // A read concern of the database would silently override the snapshot.
  const db = client.db(ledger.databaseName);
  await using snapshot = client.startSession({ snapshot: true });
  const inSnapshot = { session: snapshot };
  const heads = await readHeads(db, snapshot, findings);
  const atMs = (snapshot.clusterTime?.clusterTime.getHighBitsUnsigned() ?? Number.POSITIVE_INFINITY) * 1_000;
  const wallets = await db.collection<WalletRecord>(collections.wallets).find({}, inSnapshot).toArray();
  const buckets = await db.collection<BucketRecord>(collections.buckets).find({}, inSnapshot).toArray();
  const stored = ids && (await readIds(db, snapshot, ids));
  const { clusterTime } = snapshot;
  const openSession = (): ClientSession => {
    const session = client.startSession({ causalConsistency: true });
    if (clusterTime) {
      session.advanceClusterTime(clusterTime);
      session.advanceOperationTime(clusterTime.clusterTime);
    }
    return session;
  };
  const moment = { heads, wallets, buckets, atMs, clusterTime: clusterTime?.clusterTime.toBigInt() ?? 0n };
  return { moment: { ...moment, ...(stored && { stored }) }, openSession };
}

async function readIds(
  db: Db,
  session: ClientSession,
  { key, onRead }: { readonly key: IdKey; readonly onRead: (count: number) => void },
): Promise<StoredIds> {
  const byId = { session, hint: { _id: 1 } } as const;
  const pageCount = await db.collection(collections.pages).countDocuments({}, byId);
  const postingIds = createIdSum({ key, count: 0, sums: [0, 0] });
  const ids = db
    .collection<{ readonly _id: string }>(collections.postings)
    .find({}, { ...byId, projection: { _id: 1 }, batchSize: IDS_PER_READ });
  for await (const { _id } of ids) {
    postingIds.add(String(_id));
    if (postingIds.count() % IDS_PER_READ === 0) onRead(postingIds.count());
  }
  return { pageCount, postingIds };
}

/** Finds the newest page of each chain by seeking in the index of `_id`; fields of the pages are not trusted. */
async function readHeads(
  db: Db,
  session: ClientSession,
  findings: Findings,
): Promise<ReadonlyMap<string, bigint>> {
  const pages = db.collection<PageRecord>(collections.pages);
  const heads = new Map<string, bigint>();
  const projection = { _id: 1 } as const;
  let after = '';
  for (;;) {
    const first = await pages.findOne({ _id: { $gt: after } }, { session, projection, sort: { _id: 1 } });
    if (!first) return heads;
    const address = readPageId(first._id);
    if (!address) {
      findings.report('L6', first._id, 'is the id of no page');
      after = first._id;
      continue;
    }
    after = lastId(address.chain);
    const filter = { _id: { $gte: first._id, $lt: after, $regex: pageIdEnding.source } };
    const newest = await pages.findOne(filter, { session, projection, sort: { _id: -1 } });
    heads.set(address.chain, (newest && readPageId(newest._id)?.number) ?? address.number);
  }
}

/** An id that sorts behind every page of the chain: it ends in the character after the digits. */
function lastId(chain: string): string {
  return `${chain}#:`;
}
