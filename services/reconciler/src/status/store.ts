import type { PaymentKind } from '@pesewa/contracts';
import type { Collection, Db, Document } from 'mongodb';
import { type CloseDocument, dayCloses } from '../closes/store.ts';
import { OPEN_KEY } from '../database-schema.ts';
import { type OpenState, openStates } from '../domain/tracked.ts';
import type { PollDocument } from '../poll-document.ts';

/** The open payment of a kind and state that began first. */
export interface OldestPayment {
  readonly kind: PaymentKind;
  readonly state: OpenState;
  readonly reference: string;
  readonly openedAt: Date;
}

/** The part of the status that other stores don't give; each query reads only keys, or one document. */
export type StatusStore = ReturnType<typeof openStatusStore>;

/** Where counts of due polls end. */
const DUE_COUNT_MAX = 10_000;

/** How many overdue payments are named. */
const OVERDUE_SHOWN = 20;
/** Every state, as one range of keys. */
const ANY = { $gt: '' as OpenState };

const byAge = (one: OldestPayment, other: OldestPayment) => one.openedAt.getTime() - other.openedAt.getTime();

/** The server gives up after this time, as does the caller. */
const READ_TIMEOUT_MS = 1_000;
const LIMITS = { maxTimeMS: READ_TIMEOUT_MS } as const;

/** One question for the oldest of every kind and state, each found by the first key of its range. */
function oldestOpenIn(coll: string): Document[] {
  const project = { _id: 0, kind: '$terms.kind', state: '$openState', reference: '$_id', openedAt: 1 };
  const [first = [], ...others] = (['payout', 'collection'] as const).flatMap((kind) =>
    openStates.map((openState) => [
      { $match: { 'terms.kind': kind, openState } },
      { $sort: { openedAt: 1 } },
      { $limit: 1 },
      { $project: project },
    ]),
  );
  return [...first, ...others.map((pipeline) => ({ $unionWith: { coll, pipeline } }))];
}

/** Opens the store. */
export function openStatusStore(db: Db, polls: Collection<PollDocument>) {
  const closes = db.collection<CloseDocument>('closes');
  const countDue = (watch: string, until: Date) =>
    polls.countDocuments({ watch, dueAt: { $lte: until } }, { ...LIMITS, limit: DUE_COUNT_MAX });
  return {
    /** The due polls of a rail, and those that have been due for long; counts end at a limit. */
    duePolls: async (watch: string, now: Date, overdueBefore: Date) => {
      const first = { projection: { _id: 0, dueAt: 1 }, sort: { dueAt: 1 }, ...LIMITS } as const;
      const oldestDueAt = (await polls.findOne({ watch, dueAt: { $lte: now } }, first))?.dueAt ?? null;
      const [due, overdue] = await Promise.all([
        oldestDueAt === null ? 0 : countDue(watch, now),
        oldestDueAt === null || oldestDueAt > overdueBefore ? 0 : countDue(watch, overdueBefore),
      ]);
      return { due, overdue, oldestDueAt };
    },
    /**
     * The rails with payments to ask about, configured or not; found by seeking from one rail's keys to the next, however
     * many payments there are.
     */
    watched: async () => {
      const found = await polls.distinct('watch', { watch: { $gt: '' } }, LIMITS);
      return found.filter((watch) => watch !== undefined);
    },
    /** The oldest open payment of each kind and state that has any, the oldest of all first. */
    oldestOpen: async (): Promise<readonly OldestPayment[]> => {
      const found = await polls
        .aggregate<OldestPayment>(oldestOpenIn(polls.collectionName), LIMITS)
        .toArray();
      return found.toSorted(byAge);
    },
    /** The open payments of a kind that began before a time: how many, up to a limit, and the oldest of them. */
    overdueOpen: async (kind: PaymentKind, before: Date) => {
      const openedAt = { $lt: before };
      const filter = { 'terms.kind': kind, openState: ANY, openedAt };
      const counted = polls.countDocuments(filter, { ...LIMITS, hint: OPEN_KEY, limit: DUE_COUNT_MAX });
      const oldestFirst = { projection: { openedAt: 1 }, sort: { openedAt: 1 } } as const;
      const options = { ...oldestFirst, limit: OVERDUE_SHOWN, ...LIMITS };
      const found = openStates.map(async (state): Promise<readonly OldestPayment[]> => {
        const some = polls.find({ ...filter, openState: state }, options).toArray();
        return (await some).map(({ _id: reference, openedAt: at }) => ({
          kind,
          state,
          reference,
          openedAt: at,
        }));
      });
      const oldest = (await Promise.all(found)).flat().toSorted(byAge).slice(0, OVERDUE_SHOWN);
      return { count: await counted, oldest };
    },
    /** The newest whole day that was closed over all rails. */
    lastClose: async () => (await closes.findOne(dayCloses, { sort: { _id: -1 }, ...LIMITS })) ?? undefined,
  };
}
