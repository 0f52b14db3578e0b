import type { ClientSession, Db } from 'mongodb';
import type { Balances } from './audit.ts';
import type { BucketRecord, PageRecord, WalletRecord } from './records.ts';

/** The names of the ledger's collections. */
export const collections = {
  pages: 'pages',
  entries: 'entries',
  wallets: 'wallets',
  buckets: 'accounts',
  refusals: 'refusals',
} as const;

/** What the ledger stored at one moment. */
export interface Moment extends Balances {
  /** How many entries there are. */
  readonly entryCount: number;
}

/**
 * Reads balances, heads and the number of entries as of one moment, so that a ledger that writes on contradicts
 * nothing. `openSession` gives sessions whose reads see at least that moment, also on a secondary that lags.
 */
export async function readMoment(
  ledger: Db,
): Promise<{ readonly moment: Moment; readonly openSession: () => ClientSession }> {
  const { client } = ledger;
  // A read concern of the database would silently take the place of the snapshot.
  const db = client.db(ledger.databaseName);
  await using snapshot = client.startSession({ snapshot: true });
  const inSnapshot = { session: snapshot };
  const heads = await readHeads(db, snapshot);
  const wallets = await db.collection<WalletRecord>(collections.wallets).find({}, inSnapshot).toArray();
  const buckets = await db.collection<BucketRecord>(collections.buckets).find({}, inSnapshot).toArray();
  const entryCount = await db
    .collection(collections.entries)
    .countDocuments({}, { ...inSnapshot, hint: { _id: 1 } });
  const { clusterTime } = snapshot;
  const openSession = (): ClientSession => {
    const session = client.startSession({ causalConsistency: true });
    if (clusterTime) {
      session.advanceClusterTime(clusterTime);
      session.advanceOperationTime(clusterTime.clusterTime);
    }
    return session;
  };
  return { moment: { heads, wallets, buckets, entryCount }, openSession };
}

/** The newest page of each chain, found by leaps over the index of `_id`. */
async function readHeads(db: Db, session: ClientSession): Promise<ReadonlyMap<string, bigint>> {
  const pages = db.collection<PageRecord>(collections.pages);
  const heads = new Map<string, bigint>();
  const projection = { chain: 1, number: 1 } as const;
  let after = '';
  for (;;) {
    const first = await pages.findOne({ _id: { $gt: after } }, { session, projection, sort: { _id: 1 } });
    if (!first) return heads;
    after = lastId(first.chain);
    const filter = { _id: { $gte: first._id, $lt: after } };
    const newest = await pages.findOne(filter, { session, projection, sort: { _id: -1 } });
    if (newest) heads.set(newest.chain, newest.number);
  }
}

/** Behind every page of the chain: the sign after the digits. */
function lastId(chain: string): string {
  return `${chain}#:`;
}
