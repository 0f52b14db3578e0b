import { ERASURES } from '@pesewa/contracts';
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

/** The progress of an erasure; `_id` is the erasure's name. */
interface MarkDocument {
  readonly _id: string;
  /** Only records before this id may have been erased; it never decreases. */
  readonly until: string;
  /** All records up to this id are erased, except those that are still open. */
  readonly after: string;
  /** The ids of the open records up to `after`. */
  readonly open: readonly string[];
}

/** An erasure: which records lose which data. */
export interface Erasure<One extends Document> {
  /** The name of its mark and its lease. A collection may have several erasures. */
  readonly name: string;
  readonly collection: string;
  /** The field with our own id, which sorts by the record's creation time; the field must have an index. */
  readonly by: keyof One & string;
  readonly prefix: IdPrefix;
  /** Matches records that are still open at a time: nothing of them is erased, however old they are. */
  readonly open: (nowMs: number) => Filter<One>;
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

/** Erasures, each with the number of days after the record's creation. */
export type Erasures<One extends Document> = readonly (readonly [Erasure<One>, keepDays: number])[];

/** Starts the erasers of a service; they stop with its scope. */
export async function openErasers<One extends Document>(
  { open, clock, logger }: Pick<ServiceScope<unknown>, 'open' | 'clock' | 'logger'>,
  { db, owner }: Pick<EraserDeps, 'db' | 'owner'>,
  erasures: Erasures<One>,
): Promise<void> {
  for (const [erasure, keepDays] of erasures)
    await open(`eraser of ${erasure.name}`, startEraser({ db, owner, clock, logger }, erasure, keepDays));
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
  const { name } = erasure;
  let run: Awaited<ReturnType<typeof beginRun>> | undefined;
  return startLoop({
    name: `eraser of ${name}`,
    pauseMs: PAUSE_MS,
    clock,
    logger,
    round: async (_signal, processed) => {
      const lease = { name: `erase/${name}`, owner, durationMs: LEASE_MS };
      if (!(await takeLease(leasesOf(db), lease))) {
        run = undefined;
        return false;
      }
      run ??= await beginRun(db, erasure, { nowMs: clock.nowMs(), keepMs: keepDays * DAY_MS }, processed);
      const isMore = await run(processed);
      if (!isMore) run = undefined;
      return isMore;
    },
  });
}

/** Begins a run at the mark; each call of the result handles a page and returns whether there may be another. */
async function beginRun<One extends Document>(
  db: Db,
  { name, by, prefix, notErased, erase, ...erasure }: Erasure<One>,
  { nowMs, keepMs }: { readonly nowMs: number; readonly keepMs: number },
  processed: ReportProcessed,
): Promise<(processed: ReportProcessed) => Promise<boolean>> {
  const collection = db.collection<One>(erasure.collection);
  const marks = db.collection<MarkDocument>(ERASURES);
  const open = erasure.open(nowMs);
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
  const until = firstIdAt(prefix, nowMs - keepMs);
  // The mark is written before anything is erased, so that a missing record can be judged: erased by age, or lost.
  const mark = await marks.findOneAndUpdate(
    { _id: name },
    { $max: { until }, $setOnInsert: { after: `${prefix}-`, open: [] } },
    { upsert: true, returnDocument: 'after' },
  );
  let after = mark?.after ?? `${prefix}-`;
  let isHeldBack = false;
  const left: string[] = [];
  for (const keys of pagesOf(mark?.open ?? []))
    left.push(...(await eraseOf({ [by]: { $in: keys } }, processed)));
  const note = () => marks.updateOne({ _id: name }, { $set: { after, open: left } });
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
