import type { PaymentKind } from '@pesewa/contracts';
import type { Claimable } from '@pesewa/messaging';
import type { AnyBulkWriteOperation, ClientSession, Collection, Db } from 'mongodb';
import type { Claim, TrackedStatus } from './domain/claim.ts';
import {
  type Booked,
  inFlight,
  isOver,
  type Known,
  type OpenState,
  openStateOf,
  openStates,
  type Terms,
  type TimelineEntry,
  type Tracked,
} from './domain/tracked.ts';
import { OPEN_KEY } from './indexes.ts';

/** Takes the place of the rail for an unknown reference, about which no rail can be asked. */
export const UNKNOWN_REFERENCE = 'unknown-reference';

/** The rail to ask about a payment. */
export function watchOf({ terms }: Pick<Tracked, 'terms'>): string {
  return terms?.rail ?? UNKNOWN_REFERENCE;
}

/** A payment of the working set as MongoDB holds it; `_id` is our reference. */
export interface PollDocument extends Claimable {
  readonly terms?: Terms;
  readonly status: TrackedStatus;
  /** Set while the owner has not ended the payment. */
  readonly open?: true;
  /** The state of an open payment, from {@link openStateOf}. */
  readonly openState?: OpenState;
  /** Set while there is something to ask: the rail, or {@link UNKNOWN_REFERENCE}; payments are claimed by it. */
  readonly watch?: string;
  readonly version: bigint;
  readonly openedAt: Date;
  readonly endedAt?: Date;
  /** When we heard of its end, if that was late. */
  readonly endHeardAt?: Date;
  /** When the schedule alone asks next. */
  readonly scheduledAt?: Date;
  /** When the newest poll was claimed, by the database's clock. */
  readonly askedAt?: Date;
  readonly polls: number;
  readonly hintedPolls: number;
  readonly pollsInRound: number;
  readonly acceptedAt?: Date;
  readonly refusedAt?: Date;
  readonly notFoundSince?: Date;
  readonly callbacks: readonly (Omit<Claim, 'atMs' | 'lastAtMs'> & {
    readonly at: Date;
    readonly lastAt?: Date;
  })[];
  readonly claimsJudged: number;
  readonly decided: readonly bigint[];
  readonly decidedOutcome?: 'failed' | 'completed';
  readonly received?: bigint;
  readonly charged?: bigint;
  readonly breaks: readonly string[];
  readonly known?: readonly Known[];
  /** When it is deleted; absent while anything is left to do, and if it ever had a break. */
  readonly forgetAt?: Date;
  readonly endReportedAt?: Date;
  readonly posted: boolean;
  readonly refunded: boolean;
  readonly released?: true;
  readonly booked?: Booked;
  readonly traceparent?: string | null;
  readonly causedBy?: string | null;
  /** Set while the ledger's entries and the payment do not match. */
  readonly booksDueAt?: Date;
  readonly entryRequests?: number;
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
  const { reference, terms, dueAtMs, scheduledAtMs, askedAtMs, claim, openedAtMs, ...others } = tracked;
  const { acceptedAtMs, refusedAtMs, notFoundSinceMs, callbacks, received, charged, ...further } = others;
  const { endedAtMs, endHeardAtMs, released, booked, booksDueAtMs, known, endReportedAtMs, ...more } =
    further;
  const { decidedOutcome, entryRequests, timeline, ...rest } = more;
  const moves = inFlight(tracked);
  return {
    _id: reference,
    ...rest,
    ...(terms !== null && { terms }),
    ...(tracked.status === 'open' && { open: true, openState: openStateOf(tracked) }),
    ...(dueAtMs !== null && { watch: watchOf(tracked), dueAt: new Date(dueAtMs) }),
    ...(scheduledAtMs !== null && { scheduledAt: new Date(scheduledAtMs) }),
    ...(askedAtMs !== null && { askedAt: new Date(askedAtMs) }),
    ...(claim !== null && { claim }),
    ...(decidedOutcome !== null && { decidedOutcome }),
    ...(received !== null && { received }),
    ...(charged !== null && { charged }),
    openedAt: new Date(openedAtMs),
    ...(endedAtMs !== null && { endedAt: new Date(endedAtMs) }),
    ...(endedAtMs !== null && isOver(tracked) && { forgetAt: new Date(endedAtMs + keepMs) }),
    ...(endHeardAtMs !== null && { endHeardAt: new Date(endHeardAtMs) }),
    ...(released && { released }),
    ...(booked !== null && { booked }),
    ...(booksDueAtMs !== null && { booksDueAt: new Date(booksDueAtMs) }),
    ...(entryRequests > 0 && { entryRequests }),
    ...(known.length > 0 && { known }),
    ...(endReportedAtMs !== null && { endReportedAt: new Date(endReportedAtMs) }),
    ...(acceptedAtMs !== null && { acceptedAt: new Date(acceptedAtMs) }),
    ...(refusedAtMs !== null && { refusedAt: new Date(refusedAtMs) }),
    ...(notFoundSinceMs !== null && { notFoundSince: new Date(notFoundSinceMs) }),
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

/** Reads a payment as MongoDB holds it. */
export function fromDocument(document: PollDocument): Tracked {
  return {
    reference: document._id,
    terms: document.terms ?? null,
    status: document.status,
    version: document.version,
    openedAtMs: document.openedAt.getTime(),
    endedAtMs: document.endedAt?.getTime() ?? null,
    endHeardAtMs: document.endHeardAt?.getTime() ?? null,
    dueAtMs: document.dueAt?.getTime() ?? null,
    scheduledAtMs: document.scheduledAt?.getTime() ?? null,
    askedAtMs: document.askedAt?.getTime() ?? null,
    claim: document.claim ?? null,
    polls: document.polls,
    hintedPolls: document.hintedPolls,
    pollsInRound: document.pollsInRound,
    acceptedAtMs: document.acceptedAt?.getTime() ?? null,
    refusedAtMs: document.refusedAt?.getTime() ?? null,
    notFoundSinceMs: document.notFoundSince?.getTime() ?? null,
    callbacks: document.callbacks.map(({ at, lastAt, ...callback }) => ({
      ...callback,
      atMs: at.getTime(),
      ...(lastAt && { lastAtMs: lastAt.getTime() }),
    })),
    claimsJudged: document.claimsJudged,
    decided: document.decided,
    decidedOutcome: document.decidedOutcome ?? null,
    received: document.received ?? null,
    charged: document.charged ?? null,
    breaks: document.breaks,
    known: document.known ?? [],
    endReportedAtMs: document.endReportedAt?.getTime() ?? null,
    posted: document.posted,
    refunded: document.refunded,
    released: document.released ?? false,
    booked: document.booked ?? null,
    traceparent: document.traceparent ?? null,
    causedBy: document.causedBy ?? null,
    booksDueAtMs: document.booksDueAt?.getTime() ?? null,
    entryRequests: document.entryRequests ?? 0,
    timeline: document.timeline.map(({ at, lastAt, ...entry }) => ({
      ...entry,
      atMs: at.getTime(),
      lastAtMs: lastAt.getTime(),
    })),
  };
}
