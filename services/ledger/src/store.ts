import { walletKeyOf } from '@pesewa/contracts';
import {
  type ClientSession,
  type Collection,
  type Db,
  type Document,
  MongoServerError,
  type WithId,
} from 'mongodb';
import { floatPrefix } from './domain/accounts.ts';
import {
  type Entry,
  type Folded,
  type Hold,
  holdEndings,
  type Snapshot,
  type Wallet,
} from './domain/books.ts';
import { createCollections } from './schema.ts';

/** An entry as MongoDB holds it; `_id` is its reference and kind. */
export interface EntryDocument extends Omit<Entry, 'id' | 'touched'> {
  readonly _id: string;
  readonly wallet?: string;
  readonly walletSequence?: bigint;
  /** Our fee within a hold's amount, and the rail of a hold or capture: with them the entries tell the hold. */
  readonly fee?: bigint;
  readonly rail?: string;
  readonly at: Date;
}

/** A wallet; `_id` is `merchantId:currency`. */
export interface WalletDocument extends Wallet {
  readonly _id: string;
}

/** A refused hold, remembered so that a replay refuses it again; `_id` is the payout's reference. */
export interface RefusalDocument extends Omit<Hold, 'reference' | 'status'> {
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
  /** Payouts whose hold may have been refused. */
  readonly references: readonly string[];
  readonly entryIds: readonly string[];
}

/** The money of this service's database. */
export interface LedgerStore {
  readonly read: (wish: Wish, session: ClientSession) => Promise<Snapshot>;
  readonly write: (
    folded: Folded,
    mark: { bucket: string; at: Date },
    session: ClientSession,
  ) => Promise<void>;
  readonly findWallet: (walletKey: string) => Promise<Wallet | undefined>;
  /** The entries of a reference after the id of an earlier one, by id. */
  readonly findEntries: (
    reference: string,
    afterId: string,
    limit: number,
  ) => Promise<readonly EntryDocument[]>;
  readonly hasEntry: (id: string) => Promise<boolean>;
  readonly findFloats: () => Promise<readonly FloatBalance[]>;
}

const names = { entries: 'entries', wallets: 'wallets', refusals: 'refusals', buckets: 'accounts' } as const;

interface Collections {
  readonly entries: Collection<EntryDocument>;
  readonly wallets: Collection<WalletDocument>;
  readonly refusals: Collection<RefusalDocument>;
  readonly buckets: Collection<BucketDocument>;
}

/** Opens the store and makes sure of its collections, validators and indexes. */
export async function openLedgerStore(db: Db): Promise<LedgerStore> {
  await createCollections(db);
  const collections: Collections = {
    entries: db.collection<EntryDocument>(names.entries),
    wallets: db.collection<WalletDocument>(names.wallets),
    refusals: db.collection<RefusalDocument>(names.refusals),
    buckets: db.collection<BucketDocument>(names.buckets),
  };
  const { entries, wallets, buckets } = collections;
  return {
    read: (wish, session) => read(collections, wish, session),
    write: (folded, mark, session) => write(db, folded, mark, session),
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
  // One after another: a session runs one operation at a time.
  const foundWallets = await findAll(collections.wallets, wish.wallets, session);
  const foundEntries = await findAll(collections.entries, wish.entryIds, session);
  const refusals = await findAll(collections.refusals, wish.references, session);
  return {
    wallets: new Map(foundWallets.map((document) => [document._id, toWallet(document)])),
    holds: new Map([...refusals.map(toRefusedHold), ...toHolds(foundEntries)]),
    entryIds: new Set(foundEntries.map(({ _id }) => _id)),
  };
}

function toRefusedHold({ _id, ...refusal }: RefusalDocument): readonly [string, Hold] {
  return [_id, { reference: _id, ...refusal, status: 'refused' }];
}

/** Holds as their entries tell them: placed by one, ended by another. */
function toHolds(entries: readonly EntryDocument[]): readonly (readonly [string, Hold])[] {
  const byId = new Map(entries.map((entry) => [entry._id, entry]));
  return entries
    .filter(({ kind }) => kind === 'hold')
    .map(({ reference, wallet = '', currency, amount, fee = 0n, rail = '' }) => {
      const endings = holdEndings.filter(({ kind }) => byId.has(`${reference}/${kind}`));
      return [
        reference,
        {
          reference,
          merchantId: wallet.slice(0, wallet.lastIndexOf(':')),
          currency,
          amount: amount - fee,
          fee,
          rail: byId.get(`${reference}/capture`)?.rail ?? rail,
          status: endings.at(-1)?.status ?? 'open',
        },
      ];
    });
}

function findAll<Schema extends { readonly _id: string }>(
  collection: Collection<Schema>,
  ids: readonly string[],
  session: ClientSession,
): Promise<WithId<Schema>[]> {
  if (ids.length === 0) return Promise.resolve([]);
  const filter: object = { _id: { $in: ids } };
  return collection.find(filter, { session, batchSize: ids.length + 1 }).toArray();
}

async function write(
  db: Db,
  folded: Folded,
  mark: { readonly bucket: string; readonly at: Date },
  session: ClientSession,
): Promise<void> {
  const writer = (name: keyof typeof names): Writer => ({
    name: names[name],
    run: (command, inSession) => db.command(command, { session: inSession }),
  });
  const wallets = writer('wallets');
  const entries = folded.entries.map((entry) => toEntryDocument(entry, folded, mark.at));
  await insertAll(writer('entries'), entries, session);
  const changes = [...folded.wallets.values()];
  const newWallets = changes.filter(({ isNew }) => isNew).map(({ after }) => toWalletDocument(after));
  await insertAll(wallets, newWallets, session);
  await updateAll(wallets, changes.filter(({ isNew }) => !isNew).map(toWalletUpdate), session);
  const refused = [...folded.holds.values()].filter(({ after }) => after.status === 'refused');
  await insertAll(
    writer('refusals'),
    refused.map(({ after }) => toRefusalDocument(after)),
    session,
  );
  const additions = [...folded.accountDeltas].map(([account, { debits, credits }]) => ({
    q: { _id: `${account}#${mark.bucket}` },
    u: { $inc: { debits, credits }, $setOnInsert: { account } },
    upsert: true,
  }));
  await updateAll(writer('buckets'), additions, session);
}

interface Update {
  readonly q: { readonly _id: string };
  readonly u: object;
  readonly upsert?: boolean;
}

/** Runs write commands on one collection. */
interface Writer {
  readonly name: string;
  readonly run: (command: Document, session: ClientSession) => Promise<WriteReply>;
}

interface WriteReply {
  readonly n?: number;
  readonly writeErrors?: readonly Document[];
}

/**
 * Inserts with the server's own command: the driver's bulk API measures every document before it writes it.
 */
async function insertAll(
  writer: Writer,
  documents: readonly object[],
  session: ClientSession,
): Promise<void> {
  if (documents.length === 0) return;
  refuseErrors(
    await writer.run({ insert: writer.name, documents, ordered: false }, session),
    documents.length,
  );
}

/** Updates with the server's own command, one document by its id each. */
async function updateAll(writer: Writer, updates: readonly Update[], session: ClientSession): Promise<void> {
  if (updates.length === 0) return;
  refuseErrors(await writer.run({ update: writer.name, updates, ordered: false }, session), updates.length);
}

/** A write that fails alone is told in an answer that is fine otherwise. */
function refuseErrors(reply: WriteReply, expected: number): void {
  const [first] = reply.writeErrors ?? [];
  if (first) throw new MongoServerError(first);
  if (Number(reply.n) !== expected) throw new Error('a document was not there to be written');
}

function toEntryDocument({ id, touched, ...entry }: Entry, folded: Folded, at: Date): EntryDocument {
  const hold = folded.holds.get(entry.reference)?.after;
  return {
    _id: id,
    ...entry,
    ...(touched && { wallet: touched.wallet, walletSequence: touched.sequence }),
    ...(entry.kind === 'hold' && hold && { fee: hold.fee, rail: hold.rail }),
    ...(entry.kind === 'capture' && hold && { rail: hold.rail }),
    at,
  };
}

function toWalletDocument(wallet: Wallet): WalletDocument {
  return { _id: walletKeyOf(wallet.merchantId, wallet.currency), ...wallet };
}

function toWalletUpdate({ after }: { readonly after: Wallet }): Update {
  const { merchantId, currency, available, held, sequence } = after;
  return { q: { _id: walletKeyOf(merchantId, currency) }, u: { $set: { available, held, sequence } } };
}

function toRefusalDocument({ reference, status: _refused, ...refusal }: Hold): RefusalDocument {
  return { _id: reference, ...refusal };
}

function toWallet({ merchantId, currency, available, held, sequence }: WalletDocument): Wallet {
  return { merchantId, currency, available, held, sequence };
}
