import type { PaymentKind } from '@pesewa/contracts';
import type { Claimable } from '@pesewa/messaging';
import type { AnyBulkWriteOperation, ClientSession, Collection, Db } from 'mongodb';
import { OPEN_KEY } from './database-schema.ts';
import type { Claim } from './domain/claim.ts';
import {
  awaited,
  inFlight,
  isOver,
  type OpenState,
  openStateOf,
  openStates,
  type TimelineEntry,
  type Tracked,
} from './domain/tracked.ts';

/** Takes the place of the rail for an unknown reference, about which no rail can be asked. */
export const UNKNOWN_REFERENCE = 'unknown-reference';

/** The rail to ask about a payment. */
export function watchOf({ terms }: Pick<Tracked, 'terms'>): string {
  return terms?.rail ?? UNKNOWN_REFERENCE;
}

/** The times of a payment, and what they are stored as. */
const TIMES = {
  openedAtMs: 'openedAt',
  endedAtMs: 'endedAt',
  endHeardAtMs: 'endHeardAt',
  dueAtMs: 'dueAt',
  scheduledAtMs: 'scheduledAt',
  askedAtMs: 'askedAt',
  acceptedAtMs: 'acceptedAt',
  refusedAtMs: 'refusedAt',
  notFoundSinceMs: 'notFoundSince',
  endReportedAtMs: 'endReportedAt',
  booksDueAtMs: 'booksDueAt',
} as const satisfies Partial<Record<keyof Tracked, string>>;

/** The fields that are stored in another way, or only where they say something. */
type Special = 'reference' | 'callbacks' | 'timeline' | 'released' | 'entryRequests' | 'known';

/** The fields that are stored as they are; one that is null is not stored. */
type Fields = Omit<Tracked, keyof typeof TIMES | Special>;

type StoredFields = { readonly [Time in (typeof TIMES)[keyof typeof TIMES]]?: Date } & {
  readonly [Name in keyof Fields as null extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  readonly [Name in keyof Fields as null extends Fields[Name] ? Name : never]?: NonNullable<Fields[Name]>;
};

/** A payment of the working set as MongoDB holds it; `_id` is our reference. */
export interface PollDocument
  extends Claimable,
    StoredFields,
    Partial<Pick<Tracked, 'released' | 'entryRequests' | 'known'>> {
  readonly openedAt: Date;
  /** Set while the owner has not ended the payment. */
  readonly open?: true;
  /** The state of an open payment, from {@link openStateOf}. */
  readonly openState?: OpenState;
  /** Set while there is something to ask: the rail, or {@link UNKNOWN_REFERENCE}; payments are claimed by it. */
  readonly watch?: string;
  readonly callbacks: readonly (Omit<Claim, 'atMs' | 'lastAtMs'> & {
    readonly at: Date;
    readonly lastAt?: Date;
  })[];
  /** When it is deleted; absent while anything is left to do, and if it ever had a break. */
  readonly forgetAt?: Date;
  /** Set while the rail's wallet and our float may differ because of the payment. */
  readonly inFlight?: true;
  readonly mayDebit: bigint;
  readonly mayCredit: bigint;
  readonly timeline: readonly (Omit<TimelineEntry, 'atMs' | 'lastAtMs'> & {
    readonly at: Date;
    readonly lastAt: Date;
  })[];
}

/** The oldest open payment of a kind in a state. */
export interface OldestOpen {
  readonly kind: PaymentKind;
  readonly state: OpenState;
  /** Null if there is none. */
  readonly openedAt: Date | null;
}

/** The working set of this service's database. */
export interface WorkingStore {
  readonly collection: Collection<PollDocument>;
  readonly load: (
    references: readonly string[],
    session?: ClientSession,
  ) => Promise<ReadonlyMap<string, Tracked>>;
  /** Writes whole documents that were read in the same transaction; a conflict aborts it. */
  readonly save: (payments: readonly Tracked[], session: ClientSession) => Promise<void>;
  /** Deletes references that only callbacks have ever mentioned; others stay. */
  readonly forget: (references: readonly string[], session: ClientSession) => Promise<void>;
  /** When the longest due payment of a rail became due, from the index alone; undefined if none waits. */
  readonly oldestDue: (watch: string) => Promise<Date | undefined>;
  readonly countOpen: () => Promise<Readonly<Record<'payout' | 'collection', number>>>;
  /** When the oldest open payment of each kind and state began, each from the index alone. */
  readonly oldestOpen: () => Promise<readonly OldestOpen[]>;
}

/** How long a metric may wait for its count. */
const COUNT_TIMEOUT_MS = 1_000;

/** Opens the working set; finished payments are deleted so many days after their end. */
export function openWorkingStore(db: Db, keepDays: number): WorkingStore {
  const collection = db.collection<PollDocument>('polls');
  return {
    collection,
    load: async (references, session) => {
      const filter = { _id: { $in: [...new Set(references)] } };
      const found = await collection.find(filter, { ...(session && { session }) }).toArray();
      return new Map(found.map((document) => [document._id, fromDocument(document)]));
    },
    save: async (payments, session) => {
      if (payments.length === 0) return;
      await collection.bulkWrite(
        payments.map((payment) => toReplacement(payment, keepDays * DAY_MS)),
        { session, ordered: false },
      );
    },
    forget: async (references, session) => {
      const unknown = {
        _id: { $in: [...references] },
        terms: { $exists: false },
        version: 0n,
        posted: false,
        refunded: false,
      };
      await collection.deleteMany(unknown, { session });
    },
    oldestDue: async (watch) => {
      const oldest = await collection.findOne(
        { watch },
        { projection: { _id: 0, dueAt: 1 }, sort: { dueAt: 1 }, maxTimeMS: COUNT_TIMEOUT_MS },
      );
      return oldest?.dueAt;
    },
    countOpen: async () => {
      const limits = { hint: OPEN_KEY, maxTimeMS: COUNT_TIMEOUT_MS };
      const count = (kind: 'payout' | 'collection') =>
        collection.countDocuments({ open: true, 'terms.kind': kind }, limits);
      const [payout, open] = await Promise.all([count('payout'), count('collection')]);
      return { payout, collection: open };
    },
    oldestOpen: () => {
      const kinds = ['payout', 'collection'] as const;
      const all = kinds.flatMap((kind) => openStates.map((state) => ({ kind, state })));
      return Promise.all(all.map((one) => oldestOpen(collection, one)));
    },
  };
}

async function oldestOpen(
  collection: Collection<PollDocument>,
  { kind, state }: Pick<OldestOpen, 'kind' | 'state'>,
): Promise<OldestOpen> {
  const oldest = await collection.findOne(
    { open: true, 'terms.kind': kind, openState: state },
    { projection: { _id: 0, openedAt: 1 }, sort: { openedAt: 1 }, maxTimeMS: COUNT_TIMEOUT_MS },
  );
  return { kind, state, openedAt: oldest?.openedAt ?? null };
}

const DAY_MS = 86_400_000;

function toReplacement(tracked: Tracked, keepMs: number): AnyBulkWriteOperation<PollDocument> {
  const { _id, ...replacement } = toDocument(tracked, keepMs);
  return { replaceOne: { filter: { _id }, replacement, upsert: true } };
}

function toDocument(tracked: Tracked, keepMs: number): PollDocument {
  const { reference, callbacks, timeline, released, entryRequests, known, ...fields } = tracked;
  const { status, dueAtMs, endedAtMs, openedAtMs } = tracked;
  const moves = inFlight(tracked);
  return {
    _id: reference,
    ...toStored(fields),
    openedAt: new Date(openedAtMs),
    ...(status === 'open' && { open: true, openState: openStateOf(tracked) }),
    ...(dueAtMs !== null && { watch: watchOf(tracked) }),
    ...(released && { released }),
    ...(entryRequests > 0 && { entryRequests }),
    ...(known.length > 0 && { known }),
    ...(endedAtMs !== null && isOver(tracked) && { forgetAt: new Date(endedAtMs + keepMs) }),
    ...((moves.mayDebit !== 0n || moves.mayCredit !== 0n) && { inFlight: true }),
    ...moves,
    callbacks: callbacks.map(({ atMs, lastAtMs, ...callback }) => {
      const lastAt = lastAtMs !== undefined && { lastAt: new Date(lastAtMs) };
      return { ...callback, at: new Date(atMs), ...lastAt };
    }),
    timeline: timeline.map(({ atMs, lastAtMs, ...entry }) => {
      return { ...entry, at: new Date(atMs), lastAt: new Date(lastAtMs) };
    }),
  };
}

const isTime = (name: string): name is keyof typeof TIMES => name in TIMES;

function toStored(fields: Omit<Tracked, Special>): StoredFields {
  const present = Object.entries(fields).filter(([, value]) => value !== null);
  const stored = present.map(([name, value]) =>
    isTime(name) ? [TIMES[name], new Date(Number(value))] : [name, value],
  );
  return Object.fromEntries(stored) as StoredFields;
}

/** Reads a payment as MongoDB holds it. A field that is not stored is as in a payment of which nothing is known. */
export function fromDocument(document: PollDocument): Tracked {
  const unknown = awaited(document._id, document.openedAt.getTime());
  const known = Object.entries(unknown).map(([name, value]): readonly [string, unknown] =>
    isTime(name)
      ? [name, document[TIMES[name]]?.getTime() ?? null]
      : [name, document[name as keyof Fields] ?? value],
  );
  return {
    ...unknown,
    ...Object.fromEntries(known),
    callbacks: document.callbacks.map(({ at, lastAt, ...callback }) => ({
      ...callback,
      atMs: at.getTime(),
      ...(lastAt && { lastAtMs: lastAt.getTime() }),
    })),
    timeline: document.timeline.map(({ at, lastAt, ...entry }) => ({
      ...entry,
      atMs: at.getTime(),
      lastAtMs: lastAt.getTime(),
    })),
  };
}
