import { walletKeyOf } from '@pesewa/contracts';
import type { AnyBulkWriteOperation, ClientSession, Collection, Db } from 'mongodb';
import type { Entry, Folded, Hold, Snapshot, Wallet } from './domain/books.ts';
import { floatPrefix } from './domain/accounts.ts';
import { createCollections } from './schema.ts';

/** An entry as MongoDB holds it; `_id` is its reference and kind. */
export interface EntryDocument extends Omit<Entry, 'id' | 'touched'> {
  readonly _id: string;
  readonly wallet?: string;
  readonly walletSequence?: bigint;
  readonly at: Date;
}

/** A wallet; `_id` is `merchantId:currency`. */
export interface WalletDocument extends Wallet {
  readonly _id: string;
}

/** A hold; `_id` is the payout's reference. */
export interface HoldDocument extends Omit<Hold, 'reference'> {
  readonly _id: string;
}

/** One writer's share of an account that many share; the account is the sum of its buckets. */
export interface BucketDocument {
  /** `<account>#<topic>/<partition>` */
  readonly _id: string;
  readonly account: string;
  readonly debits: bigint;
  readonly credits: bigint;
}

/** Our money at one rail in one currency, in minor units. */
export interface FloatBalance {
  readonly rail: string;
  readonly currency: string;
  readonly balance: bigint;
}

/** What a chunk of instructions needs to know. */
export interface Wish {
  readonly wallets: readonly string[];
  readonly holds: readonly string[];
  readonly entryIds: readonly string[];
}

/** The money of this service's database. */
export interface LedgerStore {
  readonly read: (wish: Wish, session: ClientSession) => Promise<Snapshot>;
  readonly write: (folded: Folded, mark: { bucket: string; at: Date }, session: ClientSession) => Promise<void>;
  readonly findWallet: (walletKey: string) => Promise<Wallet | undefined>;
  /** The entries of a reference after the id of an earlier one, by id. */
  readonly findEntries: (reference: string, afterId: string, limit: number) => Promise<readonly EntryDocument[]>;
  readonly hasEntry: (id: string) => Promise<boolean>;
  readonly findFloats: () => Promise<readonly FloatBalance[]>;
}

interface Collections {
  readonly entries: Collection<EntryDocument>;
  readonly wallets: Collection<WalletDocument>;
  readonly holds: Collection<HoldDocument>;
  readonly buckets: Collection<BucketDocument>;
}

/** Opens the store and makes sure of its collections, validators and indexes. */
export async function openLedgerStore(db: Db): Promise<LedgerStore> {
  await createCollections(db);
  const collections: Collections = {
    entries: db.collection<EntryDocument>('entries'),
    wallets: db.collection<WalletDocument>('wallets'),
    holds: db.collection<HoldDocument>('holds'),
    buckets: db.collection<BucketDocument>('accounts'),
  };
  const { entries, wallets, buckets } = collections;
  return {
    read: (wish, session) => read(collections, wish, session),
    write: (folded, mark, session) => write(collections, folded, mark, session),
    findWallet: async (walletKey) => {
      const found = await wallets.findOne({ _id: walletKey });
      return found ? toWallet(found) : undefined;
    },
    findEntries: (reference, afterId, limit) =>
      entries
        // Ids begin with the reference and a slash, so the index of _id serves this without another.
        .find({ _id: { $gt: afterId === '' ? `${reference}/` : afterId, $lt: `${reference}0` } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    hasEntry: async (id) => (await entries.findOne({ _id: id }, { projection: { _id: 1 } })) !== null,
    findFloats: async () => {
      const sums = buckets.aggregate<{ _id: string; debits: bigint; credits: bigint }>([
        { $match: { _id: { $gte: floatPrefix, $lt: floatPrefix.replace(':', ';') } } },
        { $group: { _id: '$account', debits: { $sum: '$debits' }, credits: { $sum: '$credits' } } },
        { $sort: { _id: 1 } },
      ]);
      return (await sums.toArray()).map(({ _id, debits, credits }) => {
        const [, rail = '', currency = ''] = _id.split(':');
        return { rail, currency, balance: debits - credits };
      });
    },
  };
}

async function read(collections: Collections, wish: Wish, session: ClientSession): Promise<Snapshot> {
  const { wallets, holds, entries } = collections;
  // One after another: a session runs one operation at a time.
  const foundWallets = await findAll(wallets, wish.wallets, session);
  const foundHolds = await findAll(holds, wish.holds, session);
  const foundEntries =
    wish.entryIds.length === 0
      ? []
      : await entries
          .find({ _id: { $in: [...wish.entryIds] } }, { session, projection: { _id: 1 }, batchSize: wish.entryIds.length })
          .toArray();
  return {
    wallets: new Map(foundWallets.map((document) => [document._id, toWallet(document)])),
    holds: new Map(foundHolds.map(({ _id, ...hold }) => [_id, { reference: _id, ...hold }])),
    entryIds: new Set(foundEntries.map(({ _id }) => _id)),
  };
}

async function findAll<Document extends { readonly _id: string }>(
  collection: Collection<Document>,
  ids: readonly string[],
  session: ClientSession,
) {
  if (ids.length === 0) return [];
  const filter: object = { _id: { $in: ids } };
  return await collection.find(filter, { session, batchSize: ids.length + 1 }).toArray();
}

async function write(
  collections: Collections,
  folded: Folded,
  mark: { readonly bucket: string; readonly at: Date },
  session: ClientSession,
): Promise<void> {
  const { entries, wallets, holds, buckets } = collections;
  if (folded.entries.length > 0) {
    const documents = folded.entries.map((entry) => toEntryDocument(entry, mark.at));
    await entries.insertMany(documents, { session, ordered: false });
  }
  const walletWrites = [...folded.wallets.values()].map(toWalletWrite);
  if (walletWrites.length > 0) await wallets.bulkWrite(walletWrites, { session, ordered: false });
  const changedHolds = [...folded.holds.values()];
  const newHolds = changedHolds.filter(({ isNew }) => isNew).map(({ after }) => toHoldDocument(after));
  if (newHolds.length > 0) await holds.insertMany(newHolds, { session, ordered: false });
  const holdWrites = changedHolds.filter(({ isNew }) => !isNew).map(({ after }) => toHoldWrite(after));
  if (holdWrites.length > 0) await holds.bulkWrite(holdWrites, { session, ordered: false });
  const bucketWrites = [...folded.accountDeltas].map(([account, { debits, credits }]) => ({
    updateOne: {
      filter: { _id: `${account}#${mark.bucket}` },
      update: { $inc: { debits, credits }, $setOnInsert: { account } },
      upsert: true,
    },
  }));
  if (bucketWrites.length > 0) await buckets.bulkWrite(bucketWrites, { session, ordered: false });
}

function toEntryDocument({ id, touched, ...entry }: Entry, at: Date): EntryDocument {
  if (touched === undefined) return { _id: id, ...entry, at };
  return { _id: id, ...entry, wallet: touched.wallet, walletSequence: touched.sequence, at };
}

function toWalletWrite(change: { readonly isNew: boolean; readonly after: Wallet }): AnyBulkWriteOperation<WalletDocument> {
  const { merchantId, currency, available, held, sequence } = change.after;
  const _id = walletKeyOf(merchantId, currency);
  if (change.isNew) return { insertOne: { document: { _id, merchantId, currency, available, held, sequence } } };
  return { updateOne: { filter: { _id }, update: { $set: { available, held, sequence } } } };
}

function toHoldDocument({ reference, ...hold }: Hold): HoldDocument {
  return { _id: reference, ...hold };
}

function toHoldWrite({ reference, status, rail }: Hold): AnyBulkWriteOperation<HoldDocument> {
  return { updateOne: { filter: { _id: reference }, update: { $set: { status, rail } } } };
}

function toWallet({ merchantId, currency, available, held, sequence }: WalletDocument): Wallet {
  return { merchantId, currency, available, held, sequence };
}
