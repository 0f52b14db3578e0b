import { type Clock, firstIdAt, type IdPrefix } from '@pesewa/kernel';
import type { Did, Logger } from '@pesewa/runtime';
import type { Collection, Db, Document, Filter, UpdateFilter } from 'mongodb';
import { leasesOf, takeLease } from './lease.ts';
import { type Loop, startLoop } from './loop.ts';

const PAUSE_MS = 3_600_000;
const LEASE_MS = 60_000;
const PAGE = 500;
/** How many open records may lie before the mark; if there are more, the mark stays where it is. */
const OPEN_MAX = 10_000;

/** How far records have been erased; `_id` is the collection's name. */
interface MarkDocument {
  readonly _id: string;
  /** All records before this id are erased, except those that are still open. */
  readonly after: string;
  /** The ids of those open records. */
  readonly open: readonly string[];
}

/** The collection in which an eraser stores its mark. */
export const ERASURES = 'erasures';

/** Which records lose which data, and when. */
export interface Erasure<Record extends Document> {
  readonly collection: Collection<Record>;
  /** The field with our own id, which must have an index: it sorts by the time the record was made. */
  readonly by: keyof Record & string;
  readonly prefix: IdPrefix;
  /** How long after it was made a record keeps this data. */
  readonly keepMs: number;
  /** Records that are not finished: they lose nothing, however old they are. */
  readonly open: Filter<Record>;
  /** Records that still have the data. */
  readonly whole: Filter<Record>;
  readonly erase: UpdateFilter<Record> | Document[];
}

/**
 * Erases data that records may keep only for a time: oldest records first, one replica at a time. It needs no field and
 * no index of its own: it goes through the ids, and stores how far it is together with the records before that which
 * were still open. Each run checks those again.
 */
export function startEraser<Record extends Document>(
  deps: { readonly db: Db; readonly owner: string; readonly clock: Clock; readonly logger: Logger },
  erasure: Erasure<Record>,
): Loop {
  const name = erasure.collection.collectionName;
  let run: Awaited<ReturnType<typeof beginRun>> | undefined;
  return startLoop({
    name: `eraser of ${name}`,
    pauseMs: PAUSE_MS,
    clock: deps.clock,
    logger: deps.logger,
    round: async (_signal, did) => {
      const lease = { name: `erase/${name}`, owner: deps.owner, durationMs: LEASE_MS };
      if (!(await takeLease(leasesOf(deps.db), lease))) {
        run = undefined;
        return false;
      }
      run ??= await beginRun(deps.db, erasure, did);
      const isMore = await run(deps.clock.nowMs(), did);
      if (!isMore) run = undefined;
      return isMore;
    },
  });
}

/** A walk from the mark on; each call handles a page and gives whether there may be another. */
async function beginRun<Record extends Document>(
  db: Db,
  { collection, by, prefix, keepMs, open, whole, erase }: Erasure<Record>,
  did: Did,
): Promise<(nowMs: number, did: Did) => Promise<boolean>> {
  const marks = db.collection<MarkDocument>(ERASURES);
  const _id = collection.collectionName;
  const keysOf = async (filter: object, limit: number): Promise<readonly string[]> => {
    const options = { projection: { _id: 0, [by]: 1 }, sort: { [by]: 1 as const }, limit };
    const found = await collection.find(filter as Filter<Record>, options).toArray();
    return found.map((record) => String(record[by]));
  };
  /** Erases the data of finished records among these; gives the ids of the open ones. */
  const eraseOf = async (some: object, erased: Did): Promise<readonly string[]> => {
    const over = { $and: [some, whole, { $nor: [open] }] } as unknown as Filter<Record>;
    erased((await collection.updateMany(over, erase)).modifiedCount);
    return keysOf({ $and: [some, open] }, PAGE);
  };
  const mark = await marks.findOne({ _id });
  let after = mark?.after ?? `${prefix}-`;
  let isHeldBack = false;
  const left: string[] = [];
  for (const keys of pagesOf(mark?.open ?? [])) left.push(...(await eraseOf({ [by]: { $in: keys } }, did)));
  const note = () => marks.updateOne({ _id }, { $set: { after, open: left } }, { upsert: true });
  if (mark) await note();
  return async (nowMs, erased) => {
    const keys = await keysOf({ [by]: { $gt: after, $lt: firstIdAt(prefix, nowMs - keepMs) } }, PAGE);
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
