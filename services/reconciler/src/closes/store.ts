import { closeResults, type PaymentKind } from '@pesewa/contracts';
import type { Claimable } from '@pesewa/messaging';
import type { Collection, Db, FindCursor } from 'mongodb';
import { isOutOfTime } from '../batches.ts';
import { CLOSE_RESULT_KEY } from '../database-schema.ts';
import type { CloseResult, Difference, Side } from '../domain/close.ts';
import type { PollDocument } from '../poll-document.ts';
import type { CloseWindow } from './window.ts';

/** How many records of a close have each result. */
export type CloseCounts = Readonly<Record<CloseResult, number>>;

/** Where the reading of a window continues: after this payment. */
export interface GatheringCursor {
  readonly endedAt: Date;
  readonly reference: string;
}

/** A close as MongoDB holds it; `_id` names its window, so that each is closed once (ADR 29). */
export interface CloseDocument extends CloseWindow, Claimable {
  readonly requestedBy: string;
  readonly requestedAt: Date;
  /** Its payments are read, then asked about, then read again for late ones, until nothing is new. */
  readonly stage: 'gathering' | 'asking' | 'done';
  /** Set until it is done, for claiming. */
  readonly running?: true;
  readonly after?: GatheringCursor;
  /** How many new payments the present reading has found. */
  readonly added: number;
  /** Set if the reading began after everything the owners had published was applied here. */
  readonly isLevel?: boolean;
  /** How many payments were reported only after it had been done once. */
  readonly late?: number;
  /** When it was last done; kept while later nights check for late payments. */
  readonly finishedAt?: Date;
  /** Set while it is done. */
  readonly counts?: CloseCounts;
  /** When it is deleted. */
  readonly keepUntil: Date;
}

/** A payment in a close; `_id` is `<close>/<reference>`, so that there is one of each. Amounts in minor units. */
export interface CloseRecord extends Claimable {
  readonly close: string;
  readonly reference: string;
  readonly kind: PaymentKind;
  readonly rail: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly endedAt: Date;
  readonly result: CloseResult;
  /** The rail to ask, by which it is claimed. Absent once the result is known. */
  readonly waits?: string;
  readonly tries: number;
  /** When the rail was last asked, by the database's clock. */
  readonly askedAt?: Date;
  readonly ours?: Side;
  /** The rail's latest answer; while there is no result, it differed. */
  readonly theirs?: Side;
  readonly differences?: readonly Difference[];
  /** Why it is unclear, or has no result yet. */
  readonly why?: string;
  /** The break about it: its own or, if other breaks cover all of it, the first of them. */
  readonly breakId?: string;
  /** Further breaks, if several cover a part each. */
  readonly alsoCoveredBy?: readonly string[];
  /** Set if the rail reported an end that its owner did not know, which was published as a fact. */
  readonly factPublished?: true;
  readonly keepUntil: Date;
}

/** Which records of a close are read. */
export interface RecordQuery {
  readonly close: string;
  readonly result?: CloseResult | undefined;
  /** The reference of the last record on the page before. */
  readonly after?: string | undefined;
}

/** The closes of this service's database, and their records. */
export interface CloseStore {
  readonly closes: Collection<CloseDocument>;
  readonly records: Collection<CloseRecord>;
  /** Makes a close unless it exists; gives the existing one. */
  readonly create: (
    close: Omit<CloseDocument, 'dueAt'>,
  ) => Promise<{ readonly close: CloseDocument; readonly isNew: boolean }>;
  readonly find: (id: string) => Promise<CloseDocument | undefined>;
  /** The newest window first. */
  readonly list: (query: {
    readonly before?: string | undefined;
    readonly limit: number;
  }) => Promise<readonly CloseDocument[]>;
  /** The ids of all closes of a whole day over all rails, the oldest first. */
  readonly days: () => Promise<readonly string[]>;
  /** The end of the newest whole day over all rails that was closed. */
  readonly newestDone: () => Promise<Date | undefined>;
  /** Has the finished ones among these closes read once more for late payments; their results stay. */
  readonly readAgain: (ids: readonly string[], dueAt: Date) => Promise<void>;
  /** The next payments of all rails that ended in a period, in the order of their ends; at most `limit`. */
  readonly readWindow: (
    window: Pick<CloseWindow, 'from' | 'to'>,
    after: GatheringCursor | undefined,
    limit: number,
  ) => Promise<readonly PollDocument[]>;
  /** How many payments of each rail ended in a window; null if there are too many to count in time. */
  readonly countWindow: (window: CloseWindow) => Promise<ReadonlyMap<string, number> | null>;
  readonly countRecords: (close: string) => Promise<CloseCounts | null>;
  /** Records in the order of their references. */
  readonly readRecords: (query: RecordQuery) => FindCursor<CloseRecord>;
}

/** How long a count may take: a caller does not wait much longer. */
const COUNT_TIMEOUT_MS = 8_000;
const METRIC_TIMEOUT_MS = 1_000;
const READ_AT_ONCE = 500;

/** Finished closes of a whole day over all rails, recognised by their ids, which are in the order of their windows. */
export const dayCloses = { _id: /^\d{4}-\d{2}-\d{2}$/, finishedAt: { $exists: true } };

/** The `_id` of a payment's record in a close. */
export function recordId(close: string, reference: string): string {
  return `${close}/${reference}`;
}

/** Opens the store. */
export function openCloseStore(db: Db): CloseStore {
  const closes = db.collection<CloseDocument>('closes');
  const records = db.collection<CloseRecord>('close_records');
  return {
    closes,
    records,
    ...readCloses(closes),
    ...readPayments(db.collection<PollDocument>('polls')),
    ...readResults(records),
    create: async ({ _id, ...close }) => {
      const first = { ...close, dueAt: close.requestedAt };
      const { upsertedCount } = await closes.updateOne({ _id }, { $setOnInsert: first }, { upsert: true });
      const found = await closes.findOne({ _id });
      if (!found) throw new Error('a close was forgotten as it was made');
      return { close: found, isNew: upsertedCount === 1 };
    },
  };
}

function readCloses(
  closes: Collection<CloseDocument>,
): Pick<CloseStore, 'find' | 'list' | 'days' | 'newestDone' | 'readAgain'> {
  return {
    find: async (id) => (await closes.findOne({ _id: id })) ?? undefined,
    list: ({ before, limit }) =>
      closes
        .find(before === undefined ? {} : { _id: { $lt: before } })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray(),
    days: async () => {
      const days = closes.find({ _id: dayCloses._id }, { projection: { _id: 1 } }).sort({ _id: 1 });
      return (await days.toArray()).map(({ _id }) => _id);
    },
    newestDone: async () => {
      const done = closes.find(dayCloses, { maxTimeMS: METRIC_TIMEOUT_MS });
      return (await done.sort({ _id: -1 }).limit(1).next())?.to;
    },
    readAgain: async (ids, dueAt) => {
      await closes.updateMany(
        { _id: { $in: [...ids] }, stage: 'done' },
        {
          $set: { stage: 'gathering', running: true, added: 0, dueAt },
          $unset: { after: true, counts: true, isLevel: true },
        },
      );
    },
  };
}

function readPayments(polls: Collection<PollDocument>): Pick<CloseStore, 'readWindow' | 'countWindow'> {
  return {
    readWindow: ({ from, to }, after, limit) => {
      const range = { endedAt: { $gte: after?.endedAt ?? from, $lt: to } };
      const rest = after && {
        $or: [{ endedAt: { $gt: after.endedAt } }, { _id: { $gt: after.reference } }],
      };
      return polls
        .find({ ...range, ...rest })
        .project<PollDocument>({ terms: 1, endedAt: 1 })
        .sort({ endedAt: 1, _id: 1 })
        .limit(limit)
        .toArray();
    },
    countWindow: async ({ from, to, rail }) => {
      const window = { endedAt: { $gte: from, $lt: to }, ...(rail !== null && { 'terms.rail': rail }) };
      const byRail = [{ $group: { _id: '$terms.rail', count: { $sum: 1 } } }, { $sort: { _id: 1 } }];
      const found = await inTime(
        polls
          .aggregate<{ readonly _id: string; readonly count: number }>([{ $match: window }, ...byRail], {
            maxTimeMS: COUNT_TIMEOUT_MS,
          })
          .toArray(),
      );
      return found && new Map(found.map(({ _id, count }) => [_id, count]));
    },
  };
}

function readResults(records: Collection<CloseRecord>): Pick<CloseStore, 'countRecords' | 'readRecords'> {
  const countOf = (close: string, result: CloseResult) =>
    records.countDocuments({ close, result }, { hint: CLOSE_RESULT_KEY, maxTimeMS: COUNT_TIMEOUT_MS });
  return {
    countRecords: async (close) => {
      const counts = await inTime(
        Promise.all(closeResults.map(async (result) => [result, await countOf(close, result)] as const)),
      );
      return counts && (Object.fromEntries(counts) as CloseCounts);
    },
    readRecords: ({ close, result, after }) => {
      // All ids that begin with the close's name and a slash; zero is the next character after the slash.
      const _id = { $gt: recordId(close, after ?? ''), $lt: `${close}0` };
      return records
        .find({ _id, ...(result !== undefined && { close, result }) })
        .sort({ _id: 1 })
        .batchSize(READ_AT_ONCE);
    },
  };
}

/** The count; null if it took too long. */
async function inTime<Value>(count: Promise<Value>): Promise<Value | null> {
  try {
    return await count;
  } catch (error) {
    if (isOutOfTime(error)) return null;
    throw error;
  }
}
