import { setImmediate as nextTurn } from 'node:timers/promises';
import { createWriter } from '@pesewa/messaging';
import type { AggregateOptions, ClientSession, Db } from 'mongodb';
import {
  type BucketDocument,
  bucketId,
  collectionNames,
  type PostingDocument,
  toPostingDocument,
  toRefusalDocument,
  toWallet,
  toWalletDocument,
  type WalletDocument,
} from './documents.ts';
import type { Turnover } from './domain/accounts.ts';
import type { StoredAnswers } from './domain/answers.ts';
import type { Folded, Wallet } from './domain/books.ts';
import type { Instruction } from './domain/instructions.ts';
import type { WalletSums } from './domain/trial-balance.ts';
import { type AppendedPage, createPages, type Head, type Pages } from './pages.ts';
import { createAnswerReader, createSnapshots, type ReadSet, type StoredState } from './snapshots.ts';

/** A shared account, as the sum of its buckets. */
export interface SharedAccount extends Turnover {
  readonly account: string;
}

/** The money of this service's database. */
export interface LedgerStore {
  readonly read: (readSet: ReadSet, session: ClientSession) => Promise<StoredState>;
  /** The stored records of instructions that were answered before. */
  readonly readAnswers: (
    instructions: readonly Instruction[],
    session: ClientSession,
  ) => Promise<StoredAnswers>;
  /**
   * Writes the changes of a batch: its postings as the next page of its chain, the wallets, the buckets. Their time is
   * the later of `atMs` and the previous page's, so that it never decreases along a chain.
   */
  readonly write: (
    folded: Folded,
    mark: { readonly chain: string; readonly atMs: number },
    transaction: { readonly session: ClientSession; readonly afterCommit: (action: () => void) => void },
    /**
     * Our own work while the server writes. Called once, with the time of the postings and with the page, which is
     * undefined if there are no postings.
     */
    meanwhile: (at: Date, page: AppendedPage | undefined) => void,
  ) => Promise<void>;
  /** The newest page of a chain. */
  readonly newestPage: (chain: string, session?: ClientSession) => Promise<Pick<Head, 'number' | 'atMs'>>;
  readonly findWallet: (walletKey: string) => Promise<Wallet | undefined>;
  /** The postings of a reference with ids after a given one, sorted by id. */
  readonly findPostings: (
    reference: string,
    afterId: string,
    limit: number,
  ) => Promise<readonly PostingDocument[]>;
  /** The shared accounts whose names begin with the prefix, by name. */
  readonly findShared: (prefix: string) => Promise<readonly SharedAccount[]>;
  /** The sums of all wallets and the shared accounts, as of one moment; for so long at the most, if that is given. */
  readonly readAll: (limits?: { readonly maxTimeMS?: number }) => Promise<{
    readonly wallets: readonly WalletSums[];
    readonly shared: readonly SharedAccount[];
  }>;
}

/** Opens the store. */
export function openLedgerStore(db: Db): LedgerStore {
  const pages = createPages(db);
  const wallets = db.collection<WalletDocument>(collectionNames.wallets);
  const postings = db.collection<PostingDocument>(collectionNames.postings);
  return {
    read: createSnapshots(db),
    readAnswers: createAnswerReader(db),
    write: createBatchWriter(db, pages),
    newestPage: pages.newest,
    findWallet: async (walletKey) => {
      const found = await wallets.findOne({ _id: walletKey });
      return found ? toWallet(found) : undefined;
    },
    findPostings: (reference, afterId, limit) =>
      postings
        // Ids begin with the reference and a slash, so the index of _id serves this query too.
        .find({ _id: { $gt: afterId === '' ? `${reference}/` : afterId, $lt: `${reference}0` } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    findShared: (prefix) => readShared(db, prefix),
    readAll: async (limits = {}) => {
      // A read concern of the database would silently override the snapshot.
      const current = db.client.db(db.databaseName);
      await using session = db.client.startSession({ snapshot: true });
      const sums = { _id: '$currency', available: { $sum: '$available' }, held: { $sum: '$held' } };
      const found = await current
        .collection(collectionNames.wallets)
        .aggregate<Omit<WalletSums, 'currency'> & { _id: string }>([{ $group: sums }], { ...limits, session })
        .toArray();
      const shared = await readShared(current, '', { ...limits, session });
      return { wallets: found.map(({ _id: currency, ...sum }) => ({ currency, ...sum })), shared };
    },
  };
}

async function readShared(
  db: Db,
  prefix: string,
  options: AggregateOptions = {},
): Promise<readonly SharedAccount[]> {
  const sums = db
    .collection<BucketDocument>(collectionNames.buckets)
    .aggregate<Turnover & { _id: string }>(
      [
        { $match: { _id: { $gte: prefix, $lt: `${prefix}\uffff` } } },
        { $group: { _id: '$account', debits: { $sum: '$debits' }, credits: { $sum: '$credits' } } },
        { $sort: { _id: 1 } },
      ],
      options,
    );
  return (await sums.toArray()).map(({ _id, debits, credits }) => ({ account: _id, debits, credits }));
}

function createBatchWriter(db: Db, pages: Pages): LedgerStore['write'] {
  const postings = createWriter(db, collectionNames.postings);
  const wallets = createWriter(db, collectionNames.wallets);
  const refusals = createWriter(db, collectionNames.refusals);
  const buckets = createWriter(db, collectionNames.buckets);
  return async (folded, { chain, atMs }, transaction, meanwhile) => {
    const { session } = transaction;
    const asked = new Date(atMs);
    const insertRefusals = (at: Date) =>
      refusals.insert(
        folded.refusals.map((refusal) => toRefusalDocument(refusal, at)),
        session,
      );
    if (folded.postings.length === 0) {
      await insertRefusals(asked);
      meanwhile(asked, undefined);
      return;
    }
    const head = await pages.take(chain, session);
    const at = new Date(Math.max(atMs, head.atMs));
    const documents = folded.postings.map((posting) => toPostingDocument(posting, at));
    // The page is written first: it reads the buckets as they were before the batch, and a stale head is found soonest.
    const page = await pages.append(head, documents, folded.accountDeltas, transaction);
    // With the time that their events carry, so that these are the same when they are said again.
    await insertRefusals(at);
    const inserted = postings.insert(documents, session);
    // A failure is noticed below. First the command is sent, then we work while the server does.
    inserted.catch(() => undefined);
    await nextTurn();
    meanwhile(at, page);
    await inserted;
    const changes = [...folded.wallets.values()];
    const fresh = changes.filter(({ isNew }) => isNew);
    const updates = changes.filter(({ isNew }) => !isNew).map(({ after }) => toWalletUpdate(after, at));
    await wallets.insert(
      fresh.map(({ after }) => toWalletDocument(after, at)),
      session,
    );
    await wallets.update(updates, session);
    const additions = [...folded.accountDeltas].map(([account, { debits, credits }]) => ({
      q: { _id: bucketId(account, chain) },
      u: { $inc: { debits, credits }, $setOnInsert: { account } },
      upsert: true,
    }));
    await buckets.update(additions, session);
  };
}

function toWalletUpdate(after: Wallet, at: Date) {
  const { _id, available, held, sequence } = toWalletDocument(after, at);
  return { q: { _id }, u: { $set: { available, held, sequence, at } } };
}
