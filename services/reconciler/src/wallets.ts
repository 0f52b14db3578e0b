import type { ClientSession, Db } from 'mongodb';
import { type Page, pageOf } from './breaks.ts';
import type { FloatTotals } from './domain/drift.ts';
import type { PollDocument } from './store.ts';

/**
 * What the ledger has moved in our float at a rail; one document per wallet that moved it, so that partitions don't
 * wait for each other, summed on read.
 */
interface FloatDocument {
  /** `rail:currency:<key of the events>` */
  readonly _id: string;
  readonly rail: string;
  readonly currency: string;
  /** Minor units; both only grow. */
  readonly credits: bigint;
  readonly debits: bigint;
  /** Set once treasury money reached the float: before that there is nothing to compare. */
  readonly funded?: true;
}

/** A movement of our float at a rail, signed minor units. */
export interface FloatMove {
  readonly rail: string;
  readonly currency: string;
  /** The key of the event, whose partition alone writes the document. */
  readonly bucket: string;
  readonly minor: bigint;
  readonly funding: boolean;
}

/** One comparison of one wallet. */
export interface RunDocument {
  readonly _id: string;
  readonly at: Date;
  readonly rail: string;
  readonly currency: string;
  readonly railBalance: bigint;
  readonly float: bigint;
  readonly lower: bigint;
  readonly upper: bigint;
  readonly drift: bigint;
  readonly withinRange: boolean;
  /** References of payments that could explain the drift, oldest first. */
  readonly candidates: readonly string[];
}

/** What is in flight in one currency of a rail. */
export interface InFlight {
  readonly mayDebit: bigint;
  readonly mayCredit: bigint;
  readonly candidates: readonly string[];
}

/** The floats and comparison runs of this service's database. */
export interface WalletStore {
  readonly move: (moves: readonly FloatMove[], session: ClientSession) => Promise<void>;
  /** The totals of a rail by currency; only currencies that were funded. */
  readonly floats: (rail: string) => Promise<ReadonlyMap<string, FloatTotals>>;
  readonly inFlight: (rail: string) => Promise<ReadonlyMap<string, InFlight>>;
  readonly recordRuns: (runs: readonly RunDocument[], session: ClientSession) => Promise<void>;
  /** The latest run of each wallet. */
  readonly latestRuns: () => Promise<readonly RunDocument[]>;
  /** Newest first. */
  readonly listRuns: (query: {
    readonly rail?: string | undefined;
    readonly currency?: string | undefined;
    readonly cursor?: string | undefined;
    readonly limit: number;
  }) => Promise<Page<RunDocument>>;
}

const CANDIDATES_MAX = 20;
const RUNS_KEPT_S = 400 * 86_400;

/** Adds up the buckets of each currency. */
const SUM_FLOATS = {
  $group: {
    _id: '$currency',
    credits: { $sum: '$credits' },
    debits: { $sum: '$debits' },
    funded: { $max: { $ifNull: ['$funded', false] } },
  },
};

const SUM_IN_FLIGHT = {
  $group: {
    _id: '$terms.currency',
    mayDebit: { $sum: '$mayDebit' },
    mayCredit: { $sum: '$mayCredit' },
    candidates: { $firstN: { input: '$_id', n: CANDIDATES_MAX } },
  },
};

/** Opens the store and makes sure of its indexes. */
export async function openWalletStore(db: Db): Promise<WalletStore> {
  const floats = db.collection<FloatDocument>('floats');
  const runs = db.collection<RunDocument>('runs');
  const polls = db.collection<PollDocument>('polls');
  await Promise.all([
    floats.createIndex({ rail: 1 }),
    runs.createIndexes([
      { key: { rail: 1, currency: 1, _id: -1 } },
      { key: { at: 1 }, expireAfterSeconds: RUNS_KEPT_S },
    ]),
  ]);
  return {
    move: async (moves, session) => {
      if (moves.length === 0) return;
      await floats.bulkWrite(moves.map(toUpdate), { session, ordered: true });
    },
    floats: async (rail) => {
      const found = await floats
        .aggregate<FloatTotals & { _id: string; funded: boolean }>([{ $match: { rail } }, SUM_FLOATS])
        .toArray();
      const funded = found.filter((total) => total.funded);
      return new Map(funded.map(({ _id, credits, debits }) => [_id, { credits, debits }]));
    },
    inFlight: async (rail) => {
      const found = await polls
        .aggregate<InFlight & { _id: string }>([
          { $match: { inFlight: true, 'terms.rail': rail } },
          { $sort: { 'terms.currency': 1, openedAt: 1 } },
          SUM_IN_FLIGHT,
        ])
        .toArray();
      return new Map(found.map(({ _id, ...totals }) => [_id, totals]));
    },
    recordRuns: async (records, session) => {
      if (records.length > 0) await runs.insertMany([...records], { session });
    },
    latestRuns: () =>
      runs
        .aggregate<RunDocument>([
          { $sort: { rail: 1, currency: 1, _id: -1 } },
          { $group: { _id: { rail: '$rail', currency: '$currency' }, latest: { $first: '$$ROOT' } } },
          { $replaceWith: '$latest' },
          { $sort: { rail: 1, currency: 1 } },
        ])
        .toArray(),
    listRuns: async ({ rail, currency, cursor, limit }) => {
      const filter = {
        ...(rail !== undefined && { rail }),
        ...(currency !== undefined && { currency }),
        ...(cursor !== undefined && { _id: { $lt: cursor } }),
      };
      return pageOf(
        await runs
          .find(filter)
          .sort({ _id: -1 })
          .limit(limit + 1)
          .toArray(),
        limit,
      );
    },
  };
}

function toUpdate({ rail, currency, bucket, minor, funding }: FloatMove) {
  const credits = minor > 0n ? minor : 0n;
  return {
    updateOne: {
      filter: { _id: `${rail}:${currency}:${bucket}` },
      update: {
        $setOnInsert: { rail, currency },
        $inc: { credits, debits: credits - minor },
        ...(funding && { $set: { funded: true as const } }),
      },
      upsert: true,
    },
  };
}
