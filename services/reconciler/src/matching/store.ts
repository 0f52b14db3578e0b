import type { PageCursor } from '@pesewa/contracts';
import { afterCursor } from '@pesewa/messaging';
import type { Collection, Db, Filter, FindCursor } from 'mongodb';
import { inTime } from '../batches.ts';
import { RESULT_KEY } from '../database-schema.ts';

/**
 * A run: records of a source, a rail that is asked one by one or a file, matched with our payments. It goes through its
 * stages in turn, whichever replica takes the next step.
 */
export interface MatchRun {
  readonly _id: string;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly stage: string;
  /** Set while there is work to do, and when the next step of it is due; one that is done looks for late payments. */
  readonly running?: true;
  readonly dueAt?: Date;
  /** Until when it steps aside, since a step has failed. */
  readonly retryAt?: Date;
  /** The token of the step that is being taken, by which its holder sees whether the run is still its own. */
  readonly claim?: string | undefined;
  /** How many of its payments were reported only after it had been done once. */
  readonly late?: number;
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
  readonly keepUntil: Date;
}

/** Called between pieces of work to keep the turn; throws if it is lost, or the process is closing. */
export type Keep = () => Promise<void>;

/** How many records of a run have each result; those that none has are left out. */
export type ResultCounts = Readonly<Record<string, number>>;

/** Which records of a run are read. */
export interface RecordQuery {
  readonly run: string;
  readonly result?: string | undefined;
  /** The name of the last record on the page before. */
  readonly after?: string | undefined;
  /** All if absent. */
  readonly limit?: number;
}

/** The runs of one source in this service's database, and their records. */
export type MatchStore<Run extends MatchRun, Record extends MatchRecord> = ReturnType<
  typeof openMatchStore<Run, Record>
>;

const READ_AT_ONCE = 500;

/** The `_id` of a record. */
export function recordId(run: string, name: string): string {
  return `${run}/${name}`;
}

/** All ids of a run's records after one of them: zero is the next character after the slash. */
function idsOf(run: string, after = ''): { readonly $gt: string; readonly $lt: string } {
  return { $gt: recordId(run, after), $lt: `${run}0` };
}

/** Opens the runs of a source. */
export function openMatchStore<Run extends MatchRun, Record extends MatchRecord>(
  db: Db,
  names: { readonly runs: string; readonly records: string },
) {
  // The driver's types of filters don't know the fields of a type parameter.
  const runs = db.collection<MatchRun>(names.runs);
  const records = db.collection<MatchRecord>(names.records);
  const find = async (_id: string) => ((await runs.findOne({ _id })) ?? undefined) as Run | undefined;
  return {
    runs: runs as unknown as Collection<Run>,
    records: records as unknown as Collection<Record>,
    find,
    /** Makes a run unless it exists; gives the existing one. */
    create: async ({ _id, ...run }: Run): Promise<{ readonly run: Run; readonly isNew: boolean }> => {
      const made = { $setOnInsert: run as unknown as MatchRun };
      const { upsertedCount } = await runs.updateOne({ _id }, made, { upsert: true });
      const found = await find(_id);
      if (!found) throw new Error(`${_id} was deleted as it was made`);
      return { run: found, isNew: upsertedCount === 1 };
    },
    /** The newest first. */
    list: async (cursor: PageCursor | undefined, limit: number): Promise<readonly Run[]> => {
      const found = runs
        .find(afterCursor('requestedAt', cursor) as Filter<MatchRun>)
        .sort({ requestedAt: -1, _id: -1 })
        .limit(limit);
      return (await found.toArray()) as unknown as readonly Run[];
    },
    /** Has the next step of a run that is held taken after a while, behind others that are due by then. */
    dueAgain: async ({ _id, claim }: Run, afterMs = 0): Promise<void> => {
      await runs.updateOne({ _id, claim }, [{ $set: { dueAt: { $add: ['$$NOW', afterMs] } } }]);
    },
    /** Records in the order of their names; the caller must finish or end the reading. */
    readRecords: ({ run, result, after, limit = 0 }: RecordQuery): FindCursor<Record> =>
      records
        .find({ _id: idsOf(run, after), ...(result !== undefined && { run, result }) })
        .sort({ _id: 1 })
        .limit(limit)
        .batchSize(READ_AT_ONCE) as unknown as FindCursor<Record>,
    /** How many records have each result, those that none has left out; null if it takes longer than `maxTimeMS`. */
    count: (run: string, maxTimeMS?: number): Promise<ResultCounts | null> => {
      const byResult = [{ $match: { run } }, { $group: { _id: '$result', count: { $sum: 1 } } }];
      const options = { hint: RESULT_KEY, ...(maxTimeMS !== undefined && { maxTimeMS }) };
      const found = records
        .aggregate<{ readonly _id: string; readonly count: number }>(byResult, options)
        .toArray();
      return inTime(found.then((all) => Object.fromEntries(all.map(({ _id, count }) => [_id, count]))));
    },
  };
}
