import type { BreakFilters, PageCursor } from '@pesewa/contracts';
import { afterCursor, nextCursor } from '@pesewa/messaging';
import type { ClientSession, Collection, Db, Filter } from 'mongodb';
import { BREAKS_BY_TIME, BREAKS_COUNT_KEY } from '../database-schema.ts';
import type { Break, BreakStatus } from '../domain/break.ts';
import type { Observer } from '../domain/break-kinds.ts';

/** Which breaks are listed; each field narrows the list. */
export interface BreakQuery extends Omit<BreakFilters, 'olderThan'> {
  /** Of whom an observation is among theirs. */
  readonly observer?: Observer | undefined;
  /** Last opened before this time. */
  readonly before?: Date | undefined;
}

/** Which page of them. */
interface BreakPageQuery extends BreakQuery {
  readonly after?: PageCursor | undefined;
  readonly limit: number;
}

/** The breaks of this service's database. "Open" means not resolved everywhere in this interface. */
export type BreakStore = ReturnType<typeof openBreakStore>;

/** The open breaks of a kind. */
export interface OpenCount {
  readonly count: number;
  readonly since: Date;
}

/** The open breaks of a currency: `amount` sums how far the known ones differ, either way, in minor units. */
export interface OpenSum extends OpenCount {
  readonly currency: string;
  readonly amount: bigint;
  /** How many have no known amount. */
  readonly unknown: number;
}

/** How long a metric may wait for its count. */
const COUNT_TIMEOUT_MS = 1_000;

/** Opens the store. */
export function openBreakStore(db: Db) {
  const collection = db.collection<Break>('breaks');
  return {
    /** The existing ones among these breaks, open or not. */
    findAll: (ids: readonly string[], session?: ClientSession): Promise<readonly Break[]> =>
      collection.find({ _id: { $in: [...ids] } }, { ...(session && { session }) }).toArray(),
    /** Writes breaks that were read in the same transaction; a conflict aborts it. */
    save: async (breaks: readonly Break[], session: ClientSession): Promise<void> => {
      if (breaks.length === 0) return;
      const writes = breaks.map(({ _id, ...replacement }) => ({
        replaceOne: { filter: { _id }, replacement, upsert: true },
      }));
      await collection.bulkWrite(writes, { session });
    },
    /** How many are open of each kind, and since when the oldest is; read from the index alone. */
    countOpen: () => countOpen(collection),
    /** How much money the open ones are about, by currency; read from the same index alone. */
    sumOpen: () => sumOpen(collection),
    /** Sorted by when they were first opened, which never changes: no page skips or repeats one. */
    list: async ({ after, limit, ...query }: BreakPageQuery) => {
      const filter = { $and: [filterOf(query), afterCursor('openedAt', after)] };
      const items = await collection.find(filter).sort(BREAKS_BY_TIME).limit(limit).toArray();
      return { items, next: nextCursor(items, limit, ({ openedAt }) => openedAt) };
    },
  };
}

async function countOpen(collection: Collection<Break>): Promise<ReadonlyMap<string, OpenCount>> {
  const counts = await collection
    .aggregate<OpenCount & { readonly _id: string }>(
      [
        { $match: { status: 'open' } },
        { $group: { _id: '$kind', count: { $sum: 1 }, since: { $min: '$since' } } },
      ],
      { hint: BREAKS_COUNT_KEY, maxTimeMS: COUNT_TIMEOUT_MS },
    )
    .toArray();
  return new Map(counts.map(({ _id, ...open }) => [_id, open]));
}

async function sumOpen(collection: Collection<Break>): Promise<readonly OpenSum[]> {
  return collection
    .aggregate<OpenSum>(
      [
        { $match: { status: 'open', currency: { $type: 'string' } } },
        {
          $group: {
            _id: '$currency',
            count: { $sum: 1 },
            unknown: { $sum: { $cond: [{ $isNumber: '$amount' }, 0, 1] } },
            amount: { $sum: { $abs: '$amount' } },
            since: { $min: '$since' },
          },
        },
        // A sum that is no 64-bit integer any more, and therefore not exact, fails here.
        {
          $project: {
            _id: 0,
            currency: '$_id',
            count: 1,
            unknown: 1,
            amount: { $toLong: '$amount' },
            since: 1,
          },
        },
        { $sort: { currency: 1 } },
      ],
      { hint: BREAKS_COUNT_KEY, maxTimeMS: COUNT_TIMEOUT_MS },
    )
    .toArray();
}

function filterOf({ status, kind, observer, before, waitsForApproval, ...same }: BreakQuery): Filter<Break> {
  return {
    ...Object.fromEntries(Object.entries(same).filter(([, value]) => value !== undefined)),
    // In a separate clause, because it may also have a condition on the owner.
    ...(status !== undefined && { $and: [statuses[status]] }),
    ...(kind !== undefined && { 'observations.kind': kind }),
    ...(observer !== undefined && { 'observations.observer': observer }),
    ...(waitsForApproval !== undefined && { proposedResolution: { $exists: true } }),
    // `openedAt` narrows the index; it is never later than `since`, which is the actual condition.
    ...(before && { openedAt: { $lt: before }, since: { $lt: before } }),
  };
}

/** The statuses of {@link statusOf} as filters. */
const statuses: Readonly<Record<BreakStatus | 'unresolved', Filter<Break>>> = {
  unresolved: { status: 'open' },
  open: { status: 'open', owner: { $exists: false }, explanation: { $exists: false } },
  assigned: { status: 'open', owner: { $exists: true }, explanation: { $exists: false } },
  explained: { status: 'open', explanation: { $exists: true } },
  resolved: { status: 'resolved' },
};

/** All breaks of a query, in pages. */
export async function* pagesOfBreaks(
  breaks: Pick<BreakStore, 'list'>,
  query: Omit<BreakPageQuery, 'after'>,
): AsyncGenerator<readonly Break[]> {
  let after: PageCursor | undefined;
  do {
    const page = await breaks.list({ ...query, after });
    yield page.items;
    after = page.next ?? undefined;
  } while (after);
}
