import type { ClientSession, Db } from 'mongodb';

/** A discrepancy for people as MongoDB holds it (design 7). */
export interface BreakDocument {
  /** `<reference>/<kind>`, so that each discrepancy opens one break; a wallet's has the run appended. */
  readonly _id: string;
  readonly kind: string;
  /** Our payment reference, or `rail:currency` of a wallet. */
  readonly reference: string;
  readonly status: 'open' | 'resolved';
  readonly currency: string | null;
  /** Signed, minor units. */
  readonly amount: bigint | null;
  readonly detail: string;
  readonly openedAt: Date;
  readonly resolvedAt?: Date;
  readonly resolution?: string;
}

/** A page of a list, and where the next one begins. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** The breaks of this service's database. */
export interface BreakStore {
  readonly open: (breaks: readonly BreakDocument[], session: ClientSession) => Promise<void>;
  readonly findOpen: (
    kind: string,
    references: readonly string[],
    session: ClientSession,
  ) => Promise<readonly BreakDocument[]>;
  readonly resolve: (
    id: string,
    resolution: { readonly resolution: string; readonly resolvedAt: Date },
    session: ClientSession,
  ) => Promise<void>;
  /** Newest reference first. */
  readonly list: (query: {
    readonly reference?: string | undefined;
    readonly status?: 'open' | 'resolved' | undefined;
    readonly cursor?: string | undefined;
    readonly limit: number;
  }) => Promise<Page<BreakDocument>>;
}

/** Opens the store and makes sure of its indexes. */
export async function openBreakStore(db: Db): Promise<BreakStore> {
  const collection = db.collection<BreakDocument>('breaks');
  await collection.createIndexes([
    { key: { reference: 1 } },
    { key: { kind: 1, reference: 1 }, unique: true, partialFilterExpression: { status: 'open' } },
  ]);
  return {
    open: async (breaks, session) => {
      if (breaks.length > 0) await collection.insertMany([...breaks], { session });
    },
    findOpen: (kind, references, session) =>
      collection.find({ kind, status: 'open', reference: { $in: [...references] } }, { session }).toArray(),
    resolve: async (id, { resolution, resolvedAt }, session) => {
      await collection.updateOne(
        { _id: id },
        { $set: { status: 'resolved', resolution, resolvedAt } },
        { session },
      );
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
