import type { ClientSession, Db } from 'mongodb';
import type { Verdict } from './domain/question.ts';
import type { Terms, Tracked } from './domain/tracked.ts';

/** A discrepancy for people as MongoDB holds it (design 7). */
export interface BreakDocument {
  /** `<reference>/<kind>`, so that each discrepancy opens one break; a wallet's has the run appended. */
  readonly _id: string;
  readonly kind: string;
  /** Our payment reference, or `rail:currency` of a wallet. */
  readonly reference: string;
  readonly status: 'open' | 'resolved';
  /** The rail whose callbacks speak of a reference that nobody knows; of other kinds the payment tells it. */
  readonly rail?: string;
  readonly currency: string | null;
  /** Signed, minor units. */
  readonly amount: bigint | null;
  readonly detail: string;
  readonly openedAt: Date;
  readonly resolvedAt?: Date;
  readonly resolution?: string;
  /** How many decisions were proposed or approved about it. */
  readonly decisions?: number;
}

/** A page of a list, and where the next one begins. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** A break and why it closes. */
export interface Resolution {
  readonly id: string;
  readonly resolution: string;
}

/** The `_id` of a payment's break: there is one of each kind. */
export function breakId(reference: string, kind: string): string {
  return `${reference}/${kind}`;
}

/** The breaks that a verdict opens. */
export function breaksOf(
  { reference }: Tracked,
  { currency }: Terms,
  { findings }: Verdict,
  openedAt: Date,
): readonly BreakDocument[] {
  return findings.map(({ kind, amount, detail }) => ({
    _id: breakId(reference, kind),
    kind,
    reference,
    status: 'open',
    currency,
    amount,
    detail,
    openedAt,
  }));
}

/** The breaks of this service's database. */
export interface BreakStore {
  /** Opens breaks; one that was resolved is opened again, with what it is about now. */
  readonly open: (breaks: readonly BreakDocument[], session: ClientSession) => Promise<void>;
  readonly findOpen: (
    kind: string,
    references: readonly string[],
    session: ClientSession,
  ) => Promise<readonly BreakDocument[]>;
  /** Closes those that are open, each with its resolution, and gives them. */
  readonly resolve: (
    resolutions: readonly Resolution[],
    resolvedAt: Date,
    session: ClientSession,
  ) => Promise<readonly BreakDocument[]>;
  /** Those that exist, open or not. */
  readonly findAll: (ids: readonly string[], session: ClientSession) => Promise<readonly BreakDocument[]>;
  /**
   * Holds an open break for whoever decides about it; nothing where it is not open.
   *
   * It writes the break, so that neither another decision nor its end can go by unseen.
   */
  readonly hold: (id: string, session: ClientSession) => Promise<BreakDocument | undefined>;
  /** How many are open of a kind at a rail, counted up to a bound. */
  readonly countOpenOf: (
    of: { readonly kind: string; readonly rail: string },
    most: number,
    session: ClientSession,
  ) => Promise<number>;
  /** How many are open, by kind. */
  readonly countOpen: () => Promise<ReadonlyMap<string, number>>;
  /** Newest reference first. */
  readonly list: (query: {
    readonly reference?: string | undefined;
    readonly status?: 'open' | 'resolved' | undefined;
    readonly cursor?: string | undefined;
    readonly limit: number;
  }) => Promise<Page<BreakDocument>>;
}

const OPEN_KEY = { kind: 1, reference: 1 } as const;

/** A metric may wait so long for its count. */
const COUNT_TIMEOUT_MS = 1_000;

/** Opens the store and makes sure of its indexes. */
export async function openBreakStore(db: Db): Promise<BreakStore> {
  const collection = db.collection<BreakDocument>('breaks');
  await collection.createIndexes([
    { key: { reference: 1 } },
    { key: OPEN_KEY, unique: true, partialFilterExpression: { status: 'open' } },
    { key: { kind: 1, rail: 1 }, partialFilterExpression: { status: 'open', rail: { $exists: true } } },
  ]);
  return {
    open: async (breaks, session) => {
      const writes = breaks.map(({ _id, ...open }) => ({
        updateOne: {
          filter: { _id },
          update: { $set: open, $unset: { resolvedAt: true, resolution: true } as const },
          upsert: true,
        },
      }));
      if (writes.length > 0) await collection.bulkWrite(writes, { session, ordered: false });
    },
    findOpen: (kind, references, session) =>
      collection.find({ kind, status: 'open', reference: { $in: [...references] } }, { session }).toArray(),
    resolve: async (resolutions, resolvedAt, session) => {
      if (resolutions.length === 0) return [];
      const ids = { $in: resolutions.map(({ id }) => id) };
      const found = await collection.find({ _id: ids, status: 'open' }, { session }).toArray();
      const why = new Map(resolutions.map(({ id, resolution }) => [id, resolution]));
      const writes = found.map(({ _id }) => ({
        updateOne: {
          filter: { _id },
          update: { $set: { status: 'resolved' as const, resolution: why.get(_id) ?? '', resolvedAt } },
        },
      }));
      if (writes.length > 0) await collection.bulkWrite(writes, { session });
      return found.map((one) => ({ ...one, resolution: why.get(one._id) ?? '' }));
    },
    findAll: (ids, session) => collection.find({ _id: { $in: [...ids] } }, { session }).toArray(),
    hold: async (id, session) => {
      const open = { _id: id, status: 'open' as const };
      return (await collection.findOneAndUpdate(open, { $inc: { decisions: 1 } }, { session })) ?? undefined;
    },
    countOpenOf: (of, most, session) =>
      collection.countDocuments({ ...of, status: 'open' }, { session, limit: most }),
    countOpen: async () => {
      const counts = await collection
        .aggregate<{ readonly _id: string; readonly count: number }>(
          [{ $match: { status: 'open' } }, { $group: { _id: '$kind', count: { $sum: 1 } } }],
          { hint: OPEN_KEY, maxTimeMS: COUNT_TIMEOUT_MS },
        )
        .toArray();
      return new Map(counts.map(({ _id, count }) => [_id, count]));
    },
    list: async ({ reference, status, cursor, limit }) => {
      const filter = {
        ...(reference !== undefined && { reference }),
        ...(status !== undefined && { status }),
        ...(cursor !== undefined && { _id: { $lt: cursor } }),
      };
      const found = await collection
        .find(filter)
        .sort({ _id: -1 })
        .limit(limit + 1)
        .toArray();
      return pageOf(found, limit);
    },
  };
}

/** Cuts one item too many into a page and its cursor. */
export function pageOf<Item extends { readonly _id: string }>(
  found: readonly Item[],
  limit: number,
): Page<Item> {
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? (items.at(-1)?._id ?? null) : null };
}
