import { afterCursor, nextCursor } from '@pesewa/messaging';
import type { PageCursor } from '@pesewa/runtime';
import type { ClientSession, Collection, Db, Filter } from 'mongodb';
import type { Break, BreakStatus, FoundBreak } from '../domain/break.ts';
import type { Verdict } from '../domain/question.ts';
import { causeOf, type Terms, type Tracked } from '../domain/tracked.ts';
import { BREAKS_BY_TIME, BREAKS_COUNT_KEY } from '../indexes.ts';
import { type BreakOpening, createBreakOpening } from './opening.ts';

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
  tracked: Pick<Tracked, 'reference' | 'causedBy' | 'traceparent'>,
  { currency, rail }: Terms,
  { findings }: Pick<Verdict, 'findings'>,
  openedAt: Date,
): readonly FoundBreak[] {
  const { reference } = tracked;
  const cause = causeOf(tracked);
  return findings.map(({ kind, amount, detail }) => ({
    _id: breakId(reference, kind),
    kind,
    reference,
    rail,
    currency,
    amount,
    detail,
    openedAt,
    ...(cause.eventId !== undefined && { cause }),
  }));
}

/** What of the breaks a list shows; each field narrows it. */
export interface BreakQuery {
  readonly reference?: string | undefined;
  /** `unresolved` is all of them but the resolved ones. */
  readonly status?: BreakStatus | 'unresolved' | undefined;
  readonly kind?: string | undefined;
  readonly rail?: string | undefined;
  readonly currency?: string | undefined;
  readonly owner?: string | undefined;
  /** Those that tell what a kind has found too. */
  readonly alsoFound?: string | undefined;
  /** Opened, the last time, before then. */
  readonly before?: Date | undefined;
}

/** A page of breaks, those first that were opened last, and where the next one begins. */
export interface BreakPage {
  readonly items: readonly Break[];
  readonly next: PageCursor | null;
}

/** The breaks of this service's database; wherever a break is called open here, it is not resolved. */
export interface BreakStore extends Pick<BreakOpening, 'settle' | 'toldElsewhere'> {
  /**
   * Opens breaks, and gives those that were not open before, to tell of.
   *
   * One that was resolved is opened again, with what it is about now; one that stands learns another amount. What another
   * break of the same payment tells opens none.
   */
  readonly open: (found: readonly FoundBreak[], session: ClientSession) => Promise<readonly Break[]>;
  /** Does the same, and gives the break of each finding too. */
  readonly openAndTell: BreakOpening['open'];
  readonly findOpen: (
    kind: string,
    references: readonly string[],
    session: ClientSession,
  ) => Promise<readonly Break[]>;
  /** Closes those that are open and about no field of a payment, each with its resolution, and gives them. */
  readonly resolve: (
    resolutions: readonly Resolution[],
    resolvedAt: Date,
    session: ClientSession,
  ) => Promise<readonly Break[]>;
  /** Every break about some payments, open or not: there is one of each kind at most. */
  readonly findAbout: (references: readonly string[], session: ClientSession) => Promise<readonly Break[]>;
  /** Those that exist, open or not. */
  readonly findAll: (ids: readonly string[], session?: ClientSession) => Promise<readonly Break[]>;
  /** Writes breaks that were read in the same transaction; a conflict aborts it. */
  readonly save: (breaks: readonly Break[], session: ClientSession) => Promise<void>;
  /**
   * Holds an open break for whoever decides about it; nothing where it is not open.
   *
   * It writes the break, so that neither another decision nor its end can go by unseen.
   */
  readonly hold: (id: string, session: ClientSession) => Promise<Break | undefined>;
  /** How many are open of a kind at a rail, counted up to a bound. */
  readonly countOpenOf: (
    of: { readonly kind: string; readonly rail: string },
    most: number,
    session: ClientSession,
  ) => Promise<number>;
  /** How many are open of each kind, and since when the oldest is: read from keys alone. */
  readonly countOpen: () => Promise<ReadonlyMap<string, OpenCount>>;
  /** By the time when they were first opened, which never changes: no page skips one or shows it again. */
  readonly list: (
    query: BreakQuery & { readonly after?: PageCursor | undefined; readonly limit: number },
  ) => Promise<BreakPage>;
}

/** What is open of a kind. */
export interface OpenCount {
  readonly count: number;
  readonly since: Date;
}

/** A metric may wait so long for its count. */
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
    openAndTell: opening.open,
    findOpen: (kind, references, session) =>
      collection.find({ kind, status: 'open', reference: { $in: [...references] } }, { session }).toArray(),
    resolve: async (...given) => (await opening.settle(...given)).closed,
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
    // Apart, since it may speak of the owner too.
    ...(status !== undefined && { $and: [statuses[status]] }),
    ...(reference !== undefined && { reference }),
    ...(kind !== undefined && { kind }),
    ...(rail !== undefined && { rail }),
    ...(currency !== undefined && { currency }),
    ...(owner !== undefined && { owner }),
    ...(alsoFound !== undefined && { alsoFound: { $exists: true }, 'alsoFound.kind': alsoFound }),
    // None was opened again before it was opened: the first narrows the index, the second tells.
    ...(before && { openedAt: { $lt: before }, since: { $lt: before } }),
  };
}

/** What {@link statusOf} tells, as a filter. */
const statuses: Readonly<Record<BreakStatus | 'unresolved', Filter<Break>>> = {
  unresolved: { status: 'open' },
  open: { status: 'open', owner: { $exists: false }, explanation: { $exists: false } },
  assigned: { status: 'open', owner: { $exists: true }, explanation: { $exists: false } },
  explained: { status: 'open', explanation: { $exists: true } },
  resolved: { status: 'resolved' },
};

/** Cuts one item too many into a page and its cursor. */
export function pageOf<Item extends { readonly _id: string }>(
  found: readonly Item[],
  limit: number,
): Page<Item> {
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? (items.at(-1)?._id ?? null) : null };
}
