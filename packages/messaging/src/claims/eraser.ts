import { type Clock, DAY_MS, firstIdAt, type IdPrefix } from '@pesewa/kernel';
import type { Logger, ReportProcessed, ServiceScope } from '@pesewa/runtime';
import type { Db, Document, Filter, UpdateFilter } from 'mongodb';
import { type Loop, startLoop } from '../loop.ts';
import { leasesOf, takeLease } from './lease.ts';

const PAUSE_MS = 3_600_000;
const LEASE_MS = 60_000;
const PAGE = 500;
/** The maximum number of open records before the mark; if there are more, the mark does not advance. */
const OPEN_MAX = 10_000;

/** The collection in which a service stores how far its records are erased. */
export const ERASURES = 'erasures';

/** The progress of an erasure; `_id` is the name of the erased collection. */
interface MarkDocument {
  readonly _id: string;
  /** All records up to this id are erased, except those that are still open. */
  readonly after: string;
  /** The ids of the open records up to `after`. */
  readonly open: readonly string[];
}

/** An erasure: which records lose which data. */
export interface Erasure<One extends Document> {
  readonly collection: string;
  /** The field with our own id, which sorts by the record's creation time; the field must have an index. */
  readonly by: keyof One & string;
  readonly prefix: IdPrefix;
  /** Matches records that are still open: nothing of them is erased, however old they are. */
  readonly open: Filter<One>;
  /** Matches records that still have the data to erase. */
  readonly notErased: Filter<One>;
  readonly erase: UpdateFilter<One> | Document[];
}

interface EraserDeps {
  readonly db: Db;
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Starts the eraser of a service, which stops with its scope. */
export async function openEraser<One extends Document>(
  { open, clock, logger }: Pick<ServiceScope<unknown>, 'open' | 'clock' | 'logger'>,
  { db, owner }: Pick<EraserDeps, 'db' | 'owner'>,
  erasure: Erasure<One>,
  keepDays: number,
): Promise<void> {
  await open(`eraser of ${erasure.collection}`, startEraser({ db, owner, clock, logger }, erasure, keepDays));
}

/**
 * Erases the data of records that are older than `keepDays`, oldest first, in one replica at a time. It needs no field
 * and no index of its own: it follows the ids, and stores how far it got and which records before that are open. Each
 * run checks these again.
 */
export function startEraser<One extends Document>(
  { db, owner, clock, logger }: EraserDeps,
  erasure: Erasure<One>,
  keepDays: number,
): Loop {
  const { collection, prefix } = erasure;
  let run: Awaited<ReturnType<typeof beginRun>> | undefined;
  return startLoop({
    name: `eraser of ${collection}`,
    pauseMs: PAUSE_MS,
    clock,
    logger,
    round: async (_signal, processed) => {
      const lease = { name: `erase/${collection}`, owner, durationMs: LEASE_MS };
      if (!(await takeLease(leasesOf(db), lease))) {
        run = undefined;
        return false;
      }
      run ??= await beginRun(db, erasure, firstIdAt(prefix, clock.nowMs() - keepDays * DAY_MS), processed);
      const isMore = await run(processed);
      if (!isMore) run = undefined;
      return isMore;
    },
  });
}

/** Begins a run from the mark up to an id; each call of the result handles a page and returns whether there may be another. */
async function beginRun<One extends Document>(
  db: Db,
  { by, prefix, open, notErased, erase, ...erasure }: Erasure<One>,
  until: string,
  processed: ReportProcessed,
): Promise<(processed: ReportProcessed) => Promise<boolean>> {
  const collection = db.collection<One>(erasure.collection);
  const marks = db.collection<MarkDocument>(ERASURES);
  const keysOf = async (filter: object, limit: number): Promise<readonly string[]> => {
    const options = { projection: { _id: 0, [by]: 1 }, sort: { [by]: 1 as const }, limit };
    const found = await collection.find(filter as Filter<One>, options).toArray();
    return found.map((record) => String(record[by]));
  };
  /** Erases the data of the ended records that match; returns the ids of the open ones. */
  const eraseOf = async (some: object, erased: ReportProcessed): Promise<readonly string[]> => {
    const over = { $and: [some, notErased, { $nor: [open] }] } as unknown as Filter<One>;
    // They are read before the update: a record that ends in between stays in the list, so the next run erases it.
    const stillOpen = await keysOf({ $and: [some, open] }, PAGE);
    erased((await collection.updateMany(over, erase)).modifiedCount);
    return stillOpen;
  };
  const mark = await marks.findOne({ _id: erasure.collection });
  let after = mark?.after ?? `${prefix}-`;
  let isHeldBack = false;
  const left: string[] = [];
  for (const keys of pagesOf(mark?.open ?? []))
    left.push(...(await eraseOf({ [by]: { $in: keys } }, processed)));
  const note = () =>
    marks.updateOne({ _id: erasure.collection }, { $set: { after, open: left } }, { upsert: true });
  await note();
  return async (erased) => {
    const keys = await keysOf({ [by]: { $gt: after, $lt: until } }, PAGE);
    const last = keys.at(-1);
    if (last === undefined) return false;
    const stillOpen = await eraseOf({ [by]: { $gt: after, $lte: last } }, erased);
    after = last;
    isHeldBack ||= left.length + stillOpen.length > OPEN_MAX;
    if (!isHeldBack) {
      left.push(...stillOpen);
      await note();
    }
    return keys.length === PAGE;
  };
}

function* pagesOf(keys: readonly string[]): Generator<readonly string[]> {
  for (let first = 0; first < keys.length; first += PAGE) yield keys.slice(first, first + PAGE);
}
