import type { AnyBulkWriteOperation, ClientSession, Db, FindOptions } from 'mongodb';
import { type NewestQuery, newest } from '../batches.ts';
import type { Candidate } from '../domain/candidates.ts';
import type { Drift, FloatTotals } from '../domain/drift.ts';

/**
 * The ledger's movements in our float at a rail, summed when read: for payments one document per partition of its
 * events, so that partitions don't wait for one another; for operators' orders one document each, written once.
 */
interface FloatDocument {
  /** `rail:currency/<partition>`, `rail:currency:<command id>`; no command id has a slash. */
  readonly _id: string;
  readonly rail: string;
  readonly currency: string;
  /** Minor units; both only grow. */
  readonly credits: bigint;
  readonly debits: bigint;
}

/** A movement of our float at a rail, signed minor units. */
export interface FloatMove {
  readonly rail: string;
  readonly currency: string;
  readonly minor: bigint;
  /** The partition of the ledger's event about a payment, or the id of the order. */
  readonly by: number | string;
}

/** One comparison of one wallet; minor units. */
export interface RunDocument extends Drift {
  readonly _id: string;
  /** When the look at the wallet began. */
  readonly at: Date;
  readonly rail: string;
  readonly currency: string;
  readonly railBalance: bigint;
  /** Payments that could explain what is unexplained, likeliest first. */
  readonly candidates: readonly Candidate[];
  /** Since when no comparison has found the wallet explained; absent if it is. */
  readonly unexplainedSince?: Date;
}

/** The latest results of one wallet of a rail. */
export interface WalletDocument {
  /** `rail:currency` */
  readonly _id: string;
  readonly rail: string;
  readonly currency: string;
  readonly latest: RunDocument;
  /** The newest run of which a break was opened, or found to stand. */
  readonly lastOut?: RunDocument;
}

/** A rail, by its name, that did not answer when it was last asked for its wallets. */
interface SilentRail {
  readonly _id: string;
  /** When it was first asked without an answer. */
  readonly since: Date;
  /** Why the newest question got none. */
  readonly why: string;
}

/** The floats, wallets and comparison runs of this service's database. */
export type WalletStore = ReturnType<typeof openWalletStore>;

/** Which runs are listed. */
interface RunQuery {
  readonly rail?: string | undefined;
  readonly currency?: string | undefined;
}

type WalletKey = Pick<WalletDocument, 'rail' | 'currency'>;

/** The id of a rail's wallet. */
export function walletId({ rail, currency }: WalletKey): string {
  return `${rail}:${currency}`;
}

/** Adds up the buckets of each currency. */
const SUM_FLOATS = {
  $group: {
    _id: '$currency',
    credits: { $sum: '$credits' },
    debits: { $sum: '$debits' },
  },
};

/** How many comparisons show how a wallet's drift went. */
const COURSE_POINTS = 50;

/** Opens the store. */
export function openWalletStore(db: Db) {
  const floats = db.collection<FloatDocument>('floats');
  const wallets = db.collection<WalletDocument>('wallets');
  const runs = db.collection<RunDocument>('runs');
  const silentRails = db.collection<SilentRail>('silent_rails');
  return {
    /** Notes that a rail has answered, or why it has not. */
    noteAnswer: async (_id: string, since: Date, why?: string): Promise<void> => {
      if (why === undefined) await silentRails.deleteOne({ _id });
      else await silentRails.updateOne({ _id }, { $setOnInsert: { since }, $set: { why } }, { upsert: true });
    },
    /** Rails that give no answer: each comparison asks every rail, so none stays unnoticed because nothing is due. */
    silent: (options: FindOptions) => silentRails.find({}, options).sort({ _id: 1 }).toArray(),
    /** Adds movements: that of a payment each time it is given, that of an order once. */
    move: async (moves: readonly FloatMove[], session: ClientSession): Promise<void> => {
      const writes = [...Map.groupBy(moves, floatId)].map(([id, alike]) => toUpdate(id, alike));
      if (writes.length > 0) await floats.bulkWrite(writes, { session, ordered: false });
    },
    /** The ledger's movements at a rail, by currency. */
    floats: async (rail: string): Promise<ReadonlyMap<string, FloatTotals>> => {
      const found = await floats
        .aggregate<FloatTotals & { readonly _id: string }>([{ $match: { rail } }, SUM_FLOATS])
        .toArray();
      return new Map(found.map(({ _id, ...float }) => [_id, float]));
    },
    /** Every wallet that was ever compared, of one rail or of all. */
    wallets: (rail?: string, options: FindOptions = {}): Promise<readonly WalletDocument[]> =>
      wallets
        .find(rail === undefined ? {} : { rail }, options)
        .sort({ _id: 1 })
        .toArray(),
    /** Keeps runs, and how the wallets are after them. */
    record: async (
      records: readonly RunDocument[],
      documents: readonly WalletDocument[],
      session: ClientSession,
    ): Promise<void> => {
      await runs.insertMany([...records], { session });
      const writes = documents.map(({ _id, ...replacement }) => ({
        replaceOne: { filter: { _id }, replacement, upsert: true },
      }));
      if (writes.length > 0) await wallets.bulkWrite(writes, { session, ordered: false });
    },
    /** How a wallet's drift went in its newest comparisons, the newest first. */
    course: ({ rail, currency }: WalletKey): Promise<readonly Pick<RunDocument, 'at' | 'drift'>[]> =>
      runs
        .find({ rail, currency }, { projection: { _id: 0, at: 1, drift: 1 } })
        .sort({ _id: -1 })
        .limit(COURSE_POINTS)
        .toArray(),
    listRuns: ({ rail, currency, ...page }: NewestQuery & RunQuery) =>
      newest(
        runs,
        { ...(rail !== undefined && { rail }), ...(currency !== undefined && { currency }) },
        page,
      ),
  };
}

function floatId({ rail, currency, by }: FloatMove): string {
  return `${rail}:${currency}${typeof by === 'number' ? '/' : ':'}${by}`;
}

/** The write of all movements of one document. */
function toUpdate(_id: string, moves: readonly FloatMove[]): AnyBulkWriteOperation<FloatDocument> {
  const [{ rail, currency, minor: first, by }] = moves as readonly [FloatMove];
  // An order is recognised by its id: repeated, it finds its document and leaves it unchanged.
  const isOrder = typeof by === 'string';
  const counted = isOrder ? [first] : moves.map(({ minor }) => minor);
  const credits = counted.reduce((sum, minor) => (minor > 0n ? sum + minor : sum), 0n);
  const moved = { credits, debits: credits - counted.reduce((sum, minor) => sum + minor, 0n) };
  const update = isOrder
    ? { $setOnInsert: { rail, currency, ...moved } }
    : { $setOnInsert: { rail, currency }, $inc: moved };
  return { updateOne: { filter: { _id }, update, upsert: true } };
}
