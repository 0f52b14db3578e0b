import { type PaymentKind, paymentKinds } from '@pesewa/contracts';
import type { Collection, Db } from 'mongodb';
import { type CloseDocument, dayCloses } from '../closes/store.ts';
import { BREAKS_COUNT_KEY, OPEN_KEY } from '../database-schema.ts';
import type { Break } from '../domain/break.ts';
import { type OpenState, openStates } from '../domain/tracked.ts';
import { METRIC_TIMEOUT_MS } from '../gauges.ts';
import type { PollDocument } from '../poll-document.ts';

/** An open payment. */
export interface OpenPayment {
  readonly state: OpenState;
  readonly reference: string;
  readonly openedAt: Date;
}

/** The oldest open payments of a kind. */
export interface OldestOpen {
  readonly kind: PaymentKind;
  /** The oldest of each state, the oldest of all first. */
  readonly states: readonly OpenPayment[];
  /** Those that have been open for long: how many, up to a limit, and the oldest of them. */
  readonly overdue: { readonly count: number; readonly oldest: readonly OpenPayment[] };
}

/** The due polls of a rail; the counts end at a limit. */
export interface DuePolls {
  readonly rail: string;
  /** Since when the longest due one is due; in the future if none is due yet. */
  readonly dueAt: Date;
  readonly due: number;
  readonly overdue: number;
}

/** The open breaks of a kind and a currency. */
export interface OpenBreaks {
  readonly kind: string;
  /** Null if it is not known. */
  readonly currency: string | null;
  readonly count: number;
  /** How many have no known amount. */
  readonly unknown: number;
  /** How far the known ones differ in all, either way, in minor units; null if that is no 64-bit integer. */
  readonly amount: bigint | null;
  readonly since: Date;
}

/** The part of the status that other stores don't give; each query reads only keys, or one document. */
export type StatusStore = ReturnType<typeof openStatusStore>;

/** Where counts of due polls and of long open payments end. */
const COUNT_MAX = 10_000;
/** Where counts of payments that wait for the ledger end. */
const AWAITING_MAX = 1_000_000;
/** How many long open payments are named. */
const OVERDUE_SHOWN = 20;
/** Every state, as one range of keys. */
const ANY = { $gt: '' as OpenState };

const LIMITS = { maxTimeMS: METRIC_TIMEOUT_MS } as const;

const byAge = (one: OpenPayment, other: OpenPayment) => Number(one.openedAt) - Number(other.openedAt);

/** Opens the store. */
export function openStatusStore(db: Db, polls: Collection<PollDocument>) {
  const closes = db.collection<CloseDocument>('closes');
  const breaks = db.collection<Break>('breaks');
  const countOpen = (kind: PaymentKind) =>
    polls.countDocuments({ 'terms.kind': kind, openState: ANY }, { hint: OPEN_KEY, ...LIMITS });
  return {
    countOpen: async (): Promise<Readonly<Record<PaymentKind, number>>> => {
      const [payout, collection] = await Promise.all([countOpen('payout'), countOpen('collection')]);
      return { payout, collection };
    },
    /** Payments that lack an entry of the ledger after the grace time, and are not judged yet. */
    countAwaitingLedger: (now: Date) =>
      polls.countDocuments({ booksDueAt: { $lte: now } }, { limit: AWAITING_MAX, ...LIMITS }),
    /** The oldest open payments of each kind, and those that began before a time: however many are open, few keys are read. */
    oldestOpen: (overdueBefore: Date): Promise<readonly OldestOpen[]> =>
      Promise.all(paymentKinds.map((kind) => oldestOpen(polls, kind, overdueBefore))),
    /** The polls of each rail that has any, configured or not, by a key for each; those that are due are counted. */
    duePolls: async (now: Date, overdueBefore: Date): Promise<readonly DuePolls[]> => {
      const oldest = await polls
        .aggregate<{ readonly rail: string; readonly dueAt: Date }>(
          [
            { $match: { watch: { $gt: '' } } },
            { $sort: { watch: 1, dueAt: 1 } },
            { $group: { _id: '$watch', dueAt: { $first: '$dueAt' } } },
            { $sort: { _id: 1 } },
            { $project: { _id: 0, rail: '$_id', dueAt: 1 } },
          ],
          LIMITS,
        )
        .toArray();
      return Promise.all(
        oldest.map(async (one) => {
          const isDue = one.dueAt <= now;
          return { ...one, ...(isDue ? await countDue(polls, one.rail, now, overdueBefore) : NONE_DUE) };
        }),
      );
    },
    /** The open breaks by kind and currency, read from the index alone. */
    openBreaks: (): Promise<readonly OpenBreaks[]> =>
      breaks
        .aggregate<OpenBreaks>(
          [
            { $match: { status: 'open' } },
            {
              $group: {
                _id: { kind: '$kind', currency: '$currency' },
                count: { $sum: 1 },
                unknown: { $sum: { $cond: [{ $isNumber: '$amount' }, 0, 1] } },
                amount: { $sum: { $abs: '$amount' } },
                since: { $min: '$since' },
              },
            },
            // A sum that is no 64-bit integer any more is not exact, and not known therefore.
            {
              $set: {
                amount: { $convert: { input: '$amount', to: 'long', onError: null } },
                kind: '$_id.kind',
                currency: '$_id.currency',
              },
            },
            { $unset: '_id' },
            { $sort: { kind: 1, currency: 1 } },
          ],
          { hint: BREAKS_COUNT_KEY, ...LIMITS },
        )
        .toArray(),
    /** The newest whole day that was closed over all rails. */
    lastClose: async () => (await closes.findOne(dayCloses, { sort: { _id: -1 }, ...LIMITS })) ?? undefined,
  };
}

async function oldestOpen(
  polls: Collection<PollDocument>,
  kind: PaymentKind,
  overdueBefore: Date,
): Promise<OldestOpen> {
  // The first key of each state is sought.
  const firstOfEach = [
    { $match: { 'terms.kind': kind, openState: ANY } },
    { $sort: { openState: 1, openedAt: 1 } },
    { $group: { _id: '$openState', reference: { $first: '$_id' }, openedAt: { $first: '$openedAt' } } },
    { $project: { _id: 0, state: '$_id', reference: 1, openedAt: 1 } },
  ];
  const states = (await polls.aggregate<OpenPayment>(firstOfEach, LIMITS).toArray()).toSorted(byAge);
  if (!states.some(({ openedAt }) => openedAt < overdueBefore))
    return { kind, states, overdue: { count: 0, oldest: [] } };
  const overdue = { 'terms.kind': kind, openedAt: { $lt: overdueBefore } };
  const [count, oldest] = await Promise.all([
    polls.countDocuments({ ...overdue, openState: ANY }, { ...LIMITS, hint: OPEN_KEY, limit: COUNT_MAX }),
    polls
      .find({ ...overdue, openState: { $in: [...openStates] } }, LIMITS)
      .sort({ openedAt: 1 })
      .limit(OVERDUE_SHOWN)
      .project<OpenPayment>({ _id: 0, state: '$openState', reference: '$_id', openedAt: 1 })
      .toArray(),
  ]);
  return { kind, states, overdue: { count, oldest } };
}

const NONE_DUE = { due: 0, overdue: 0 } as const;

async function countDue(polls: Collection<PollDocument>, watch: string, now: Date, overdueBefore: Date) {
  const isOverdue = { $cond: [{ $lt: ['$dueAt', overdueBefore] }, 1, 0] };
  const counts = [
    { $match: { watch, dueAt: { $lte: now } } },
    { $sort: { dueAt: 1 } },
    { $limit: COUNT_MAX },
    { $group: { _id: null, due: { $sum: 1 }, overdue: { $sum: isOverdue } } },
    { $unset: '_id' },
  ];
  const [found = NONE_DUE] = await polls
    .aggregate<{ readonly due: number; readonly overdue: number }>(counts, LIMITS)
    .toArray();
  return found;
}
