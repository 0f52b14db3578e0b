import type { PageCursor } from '@pesewa/contracts';
import { afterCursor } from '@pesewa/messaging';
import type { Collection, Db, Filter, FindCursor } from 'mongodb';
import { inTime } from '../batches.ts';
import { RESULT_KEY } from '../database-schema.ts';
import type { WindowCursor } from './payments.ts';

/**
 * A run: records of a source, a rail that is asked one by one or a file, matched with our payments. It goes through its
 * stages in turn, whichever replica takes the next step.
 */
export interface MatchRun {
  readonly _id: string;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly stage: string;
  /** Set for a dry run, which is not listed and is deleted once its result was given. */
  readonly trial?: true;
  /** Set while there is work to do, and when the next step of it is due. */
  readonly running?: true;
  readonly dueAt?: Date;
  /** Until when it steps aside, since a step has failed. */
  readonly retryAt?: Date;
  /** The token of the step that is being taken: only its holder may change the run. */
  readonly claim?: string;
  /** Where the reading of its payments continues. */
  readonly after?: WindowCursor;
  /** How many of its payments were reported only after it had been done once. */
  readonly late?: number;
  /** Set while late payments of a run that is done are looked for: it stays done until there are any. */
  readonly rereading?: true;
  /** How many records have each result; set while it is done. */
  readonly counts?: ResultCounts;
  /** When it was last done. */
  readonly finishedAt?: Date;
  /** When it is deleted, as its records are. */
  readonly keepUntil: Date;
}

/** What every record of a run has; `_id` is `<run>/<its name there>`, so that there is one of each. */
export interface MatchRecord {
  readonly _id: string;
  readonly run: string;
  readonly result: string;
  /** The break about it: its own or, if other breaks cover all of it, the first of them. */
  readonly breakId?: string;
  /** Further breaks, if several cover a part each. */
  readonly alsoCoveredBy?: readonly string[];
  readonly keepUntil: Date;
}

/** How many records of a run have each result; those that none has are left out. */
export type ResultCounts = Readonly<Record<string, number>>;

/** Which records of a run are read. */
export interface RecordQuery {
  readonly run: string;
  readonly result?: string | undefined;
  /** The name of the last record on the page before. */
  readonly after?: string | undefined;
}

/** The runs of one source in this service's database, and their records. */
export interface MatchStore<Run extends MatchRun, Record extends MatchRecord> {
  readonly runs: Collection<Run>;
  readonly records: Collection<Record>;
  /** Makes a run unless it exists; gives the existing one. */
  readonly create: (run: Run) => Promise<{ readonly run: Run; readonly isNew: boolean }>;
  readonly find: (id: string) => Promise<Run | undefined>;
  /** The newest first. */
  readonly list: (cursor: PageCursor | undefined, limit: number) => Promise<readonly Run[]>;
  /** Records in the order of their names; the caller must finish or end the reading. */
  readonly readRecords: (query: RecordQuery) => FindCursor<Record>;
  /** The counts of a run; null if they take longer than `timeoutMs`. */
  readonly count: (run: string, timeoutMs?: number) => Promise<ResultCounts | null>;
}

const READ_AT_ONCE = 500;

/** Whether all is known of a run. */
export function isDone({ stage, rereading }: Pick<MatchRun, 'stage' | 'rereading'>): boolean {
  return stage === 'done' || rereading === true;
}

/** The `_id` of a record. */
export function recordId(run: string, name: string): string {
  return `${run}/${name}`;
}

/** All ids of a run's records after one of them: zero is the next character after the slash. */
export function idsOf(run: string, after = ''): { readonly $gt: string; readonly $lt: string } {
  return { $gt: recordId(run, after), $lt: `${run}0` };
}

/** Opens the runs of a source. */
export function openMatchStore<Run extends MatchRun, Record extends MatchRecord>(
  db: Db,
  names: { readonly runs: string; readonly records: string },
): MatchStore<Run, Record> {
  // The driver's types of filters don't know the fields of a type parameter.
  const runs = db.collection<MatchRun>(names.runs);
  const records = db.collection<MatchRecord>(names.records);
  const find = async (_id: string) => ((await runs.findOne({ _id })) ?? undefined) as Run | undefined;
  return {
    runs: runs as unknown as Collection<Run>,
    records: records as unknown as Collection<Record>,
    find,
    create: async ({ _id, ...run }) => {
      const { upsertedCount } = await runs.updateOne(
        { _id },
        { $setOnInsert: run as unknown as MatchRun },
        { upsert: true },
      );
      const found = await find(_id);
      if (!found) throw new Error(`${_id} was deleted as it was made`);
      return { run: found, isNew: upsertedCount === 1 };
    },
    list: async (cursor, limit) => {
      const listed = { trial: { $exists: false }, ...afterCursor('requestedAt', cursor) };
      const found = runs
        .find(listed as Filter<MatchRun>)
        .sort({ requestedAt: -1, _id: -1 })
        .limit(limit);
      return (await found.toArray()) as unknown as readonly Run[];
    },
    readRecords: ({ run, result, after }) =>
      records
        .find({ _id: idsOf(run, after), ...(result !== undefined && { run, result }) })
        .sort({ _id: 1 })
        .batchSize(READ_AT_ONCE) as unknown as FindCursor<Record>,
    count: (run, timeoutMs) => inTime(count(records, run, timeoutMs)),
  };
}

async function count(
  records: Collection<MatchRecord>,
  run: string,
  maxTimeMS: number | undefined,
): Promise<ResultCounts> {
  const found = await records
    .aggregate<{ readonly _id: string; readonly count: number }>(
      [{ $match: { run } }, { $group: { _id: '$result', count: { $sum: 1 } } }],
      { hint: RESULT_KEY, ...(maxTimeMS !== undefined && { maxTimeMS }) },
    )
    .toArray();
  return Object.fromEntries(found.map((one) => [one._id, one.count]));
}
