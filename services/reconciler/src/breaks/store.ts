import type { BreakFilters, PageCursor } from '@pesewa/contracts';
import { afterCursor, nextCursor } from '@pesewa/messaging';
import type { ClientSession, Collection, Db, Filter } from 'mongodb';
import { BREAKS_BY_TIME, BREAKS_COUNT_KEY } from '../database-schema.ts';
import type { Break, BreakStatus, FoundBreak } from '../domain/break.ts';
import type { Verdict } from '../domain/question.ts';
import { causeOf, type Terms, type Tracked } from '../domain/tracked.ts';
import { type BreakOpening, type BreakRecords, createBreakOpening, type Resolution } from './opening.ts';

/** A page of a list, and the cursor of the next one. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** The `_id` of a payment's break; there is at most one of each kind. */
export function breakId(reference: string, kind: string): string {
  return `${reference}/${kind}`;
}

/** A finding as a break, at a rail and in a currency as far as they are known. */
export function toFoundBreak(
  reference: string,
  { kind, amount, detail }: Pick<FoundBreak, 'kind' | 'amount' | 'detail'>,
  { rail, currency }: { readonly rail?: string | undefined; readonly currency: string | null },
  openedAt: Date,
): FoundBreak {
  const _id = breakId(reference, kind);
  return { _id, kind, reference, ...(rail !== undefined && { rail }), currency, amount, detail, openedAt };
}

/** The breaks that a verdict opens. */
export function breaksOfVerdict(
  tracked: Pick<Tracked, 'reference' | 'causedBy' | 'traceparent'>,
  terms: Terms,
  { findings }: Pick<Verdict, 'findings'>,
  openedAt: Date,
): readonly FoundBreak[] {
  const cause = causeOf(tracked);
  return findings.map((finding) => ({
    ...toFoundBreak(tracked.reference, finding, terms, openedAt),
    ...(cause.eventId !== undefined && { cause }),
  }));
}

/** Which breaks are listed; each field narrows the list. */
export interface BreakQuery extends Omit<BreakFilters, 'olderThan'> {
  /** Breaks that cover a finding of this kind too. */
  readonly alsoFound?: string | undefined;
  /** Last opened before this time. */
  readonly before?: Date | undefined;
}

/** A page of breaks, the most recently opened first, and the cursor of the next one. */
export interface BreakPage {
  readonly items: readonly Break[];
  readonly next: PageCursor | null;
}

/** The breaks of this service's database. "Open" means not resolved everywhere in this interface. */
export interface BreakStore extends BreakRecords, Pick<BreakOpening, 'update' | 'coveredElsewhere'> {
  /**
   * Opens breaks; gives those that were not open before, to be published.
   *
   * A resolved one is opened again, with its new content; an open one gets the new amount. A finding that another break
   * of the same payment covers opens none.
   */
  readonly open: (found: readonly FoundBreak[], session: ClientSession) => Promise<readonly Break[]>;
  /** Does the same, and also gives the break of each finding. */
  readonly openAndReport: BreakOpening['open'];
  readonly findOpen: (
    kind: string,
    references: readonly string[],
    session: ClientSession,
  ) => Promise<readonly Break[]>;
  /**
   * Closes the open ones among these breaks, which must not be about a field of a payment, each with its resolution;
   * gives the closed ones.
   */
  readonly resolve: (
    resolutions: readonly Resolution[],
    resolvedAt: Date,
    session: ClientSession,
  ) => Promise<readonly Break[]>;
  /** The existing ones among these breaks, open or not. */
  readonly findAll: (ids: readonly string[], session?: ClientSession) => Promise<readonly Break[]>;
  /**
   * Gives an open break to decide about it; undefined if it is not open.
   *
   * It writes the break, so that a concurrent decision or a concurrent end is a conflict.
   */
  readonly hold: (id: string, session: ClientSession) => Promise<Break | undefined>;
  /** How many are open of a kind at a rail, counted up to a limit. */
  readonly countOpenOf: (
    of: { readonly kind: string; readonly rail: string },
    most: number,
    session: ClientSession,
  ) => Promise<number>;
  /** How many are open of each kind, and since when the oldest is; read from the index alone. */
  readonly countOpen: () => Promise<ReadonlyMap<string, OpenCount>>;
  /** Sorted by when they were first opened, which never changes: no page skips or repeats one. */
  readonly list: (
    query: BreakQuery & { readonly after?: PageCursor | undefined; readonly limit: number },
  ) => Promise<BreakPage>;
}

/** The open breaks of a kind. */
export interface OpenCount {
  readonly count: number;
  readonly since: Date;
}

/** How long a metric may wait for its count. */
const COUNT_TIMEOUT_MS = 1_000;

/** Opens the store. */
export function openBreakStore(db: Db): BreakStore {
  const collection = db.collection<Break>('breaks');
  const findAll: BreakStore['findAll'] = (ids, session) =>
    collection.find({ _id: { $in: [...ids] } }, { ...(session && { session }) }).toArray();
  const save: BreakStore['save'] = async (breaks, session) => {
    if (breaks.length === 0) return;
    const writes = breaks.map(({ _id, ...replacement }) => ({
      replaceOne: { filter: { _id }, replacement, upsert: true },
    }));
    await collection.bulkWrite(writes, { session });
  };
  const findAbout: BreakStore['findAbout'] = (references, session) =>
    collection.find({ reference: { $in: [...new Set(references)] } }, { session }).toArray();
  const opening = createBreakOpening(collection, { findAbout, save });
  return {
    findAll,
    save,
    findAbout,
    ...opening,
    open: async (found, session) => (await opening.open(found, session)).opened,
    openAndReport: opening.open,
    findOpen: (kind, references, session) =>
      collection.find({ kind, status: 'open', reference: { $in: [...references] } }, { session }).toArray(),
    resolve: async (...given) => (await opening.update(...given)).closed,
    hold: async (id, session) => {
      const open = { _id: id, status: 'open' as const };
      const options = { session, returnDocument: 'after' } as const;
      return (await collection.findOneAndUpdate(open, { $inc: { decisions: 1 } }, options)) ?? undefined;
    },
    countOpenOf: (of, most, session) =>
      collection.countDocuments({ ...of, status: 'open' }, { session, limit: most }),
    countOpen: () => countOpen(collection),
    list: async ({ after, limit, ...query }) => {
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

function filterOf({
  reference,
  status,
  kind,
  rail,
  currency,
  owner,
  alsoFound,
  before,
}: BreakQuery): Filter<Break> {
  return {
    // In a separate clause, because it may also have a condition on the owner.
    ...(status !== undefined && { $and: [statuses[status]] }),
    ...(reference !== undefined && { reference }),
    ...(kind !== undefined && { kind }),
    ...(rail !== undefined && { rail }),
    ...(currency !== undefined && { currency }),
    ...(owner !== undefined && { owner }),
    ...(alsoFound !== undefined && { alsoFound: { $exists: true }, 'alsoFound.kind': alsoFound }),
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

/** Cuts a list with one item too many into a page and its cursor. */
export function pageOf<Item extends { readonly _id: string }>(
  found: readonly Item[],
  limit: number,
): Page<Item> {
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? (items.at(-1)?._id ?? null) : null };
}

/** All breaks of a query, in pages. */
export async function* pagesOfBreaks(
  breaks: Pick<BreakStore, 'list'>,
  query: BreakQuery & { readonly limit: number },
): AsyncGenerator<readonly Break[]> {
  let after: PageCursor | undefined;
  do {
    const page = await breaks.list({ ...query, after });
    yield page.items;
    after = page.next ?? undefined;
  } while (after);
}
