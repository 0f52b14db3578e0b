import type { Clock } from '@pesewa/kernel';
import type { Collection, Document, Filter } from 'mongodb';

/** What is searched of a record. */
interface Queued {
  readonly _id: string;
  readonly dueAt?: Date;
}

/** Records that share places by a field: those with the same key are a queue. */
export interface Queues<One extends Queued> {
  readonly field: keyof One & string;
  /** How many more records of a key may be claimed, for itself. */
  readonly roomOf: (key: string) => number;
  /** Begins a choice: gives whether one more of a key may be chosen beside those chosen before, since keys may share room. */
  readonly choose: () => (key: string) => boolean;
  /** The index of the search: the fields of `open`, which is of equalities alone, then this field, `dueAt` and `_id`. */
  readonly index: Document;
}

/** What a search for due records has found. */
export interface FoundDue {
  /** Those to claim, the oldest first. */
  readonly ids: readonly string[];
  /** Whether more may be due that can be claimed. */
  readonly more: boolean;
  /** Whether other queues have not been gone through yet. */
  readonly isCut: boolean;
}

/** A record that is due, and its queue. */
interface Due {
  readonly _id: string;
  readonly key: string;
  readonly dueAt: Date;
}

/** How many queues one search goes through. */
export const WALKED_MAX = 1_000;
/** How many queues are read beyond their first record; MongoDB merges the order of at most 200. */
const MERGED_MAX = 100;
/** The pause after a part of the queues in which nothing was found: there may be very many that are due later. */
const PART_PAUSE_MS = 20;

/**
 * Searches for due records that there is room for, the oldest first, by one key for each queue: what waits in a queue
 * without room is never read, however much it is. A search goes through a part of the queues, and the next one goes on
 * after it.
 */
export function createQueueSearch<One extends Queued>(
  rules: { readonly collection: Collection<One>; readonly open: Filter<One>; readonly clock: Clock },
  queues: Queues<One>,
): (dueUntil: Date, room: number) => Promise<FoundDue> {
  const { roomOf, choose } = queues;
  let after = '';
  let hasFound = false;
  return async (dueUntil, room) => {
    const walked = await readFirsts(rules, queues, after);
    const mayBegin = choose();
    const firsts = walked
      .filter(({ key, dueAt }) => dueAt <= dueUntil && roomOf(key) > 0)
      .toSorted(byAge)
      .filter(({ key }) => mayBegin(key))
      .slice(0, Math.max(room, MERGED_MAX));
    const merged = firsts.slice(0, MERGED_MAX).filter(({ key }) => roomOf(key) > 1);
    // Twice as many as there is room for at most: one queue may have more of them than it may give.
    const limit = Math.min(
      2 * room,
      merged.reduce((sum, { key }) => sum + roomOf(key), 0),
    );
    const keys = merged.map(({ key }) => key);
    const found = keys.length === 0 ? [] : await readQueues(rules, queues, { keys, dueUntil, limit });
    const ids = fitting([...firsts, ...found], choose()).slice(0, room);
    const isCut = walked.length === WALKED_MAX;
    after = isCut ? (walked.at(-1)?.key ?? '') : '';
    // Of queues with little room no more is read than that, and there may be room again by now.
    const more = isCut || hasFound || ids.length > 0;
    hasFound = isCut && (hasFound || ids.length > 0);
    if (isCut && ids.length === 0) await rules.clock.sleep(PART_PAUSE_MS);
    return { ids, more, isCut };
  };
}

/** The record of each queue that is due first, now or later, in the order of the queues' keys. */
function readFirsts<One extends Queued>(
  { collection, open }: { readonly collection: Collection<One>; readonly open: Filter<One> },
  { field, index }: Queues<One>,
  after: string,
): Promise<readonly Due[]> {
  return collection
    .aggregate<Due>(
      [
        { $match: { ...open, [field]: { $gt: after } } },
        // MongoDB then skips from queue to queue (DISTINCT_SCAN). Asked for what is due alone it would do so too, and
        // might go through any number of queues.
        { $sort: { [field]: 1, dueAt: 1 } },
        { $group: { _id: `$${field}`, id: { $first: '$_id' }, dueAt: { $first: '$dueAt' } } },
        { $limit: WALKED_MAX },
        { $project: { _id: '$id', key: '$_id', dueAt: 1 } },
      ],
      { hint: index, batchSize: WALKED_MAX },
    )
    .toArray();
}

/** What is due in these queues, the oldest first, by keys alone. */
async function readQueues<One extends Queued>(
  { collection, open }: { readonly collection: Collection<One>; readonly open: Filter<One> },
  { field, index }: Queues<One>,
  {
    keys,
    dueUntil,
    limit,
  }: { readonly keys: readonly string[]; readonly dueUntil: Date; readonly limit: number },
): Promise<readonly Due[]> {
  const due = { ...open, [field]: { $in: keys }, dueAt: { $lte: dueUntil } } as Filter<One>;
  const found = await collection
    .find(due, { hint: index })
    .project<Omit<Due, 'key'> & Readonly<{ [name: string]: string }>>({ _id: 1, dueAt: 1, [field]: 1 })
    .sort({ dueAt: 1 })
    .limit(limit)
    .batchSize(limit)
    .toArray();
  return found.map((one) => ({ _id: one._id, dueAt: one.dueAt, key: one[field] ?? '' }));
}

/** The ids of the records that there is room for, each once and the oldest first. */
function fitting(all: readonly Due[], mayChoose: (key: string) => boolean): readonly string[] {
  const once = new Map(all.map((due) => [due._id, due]));
  return [...once.values()]
    .toSorted(byAge)
    .filter(({ key }) => mayChoose(key))
    .map(({ _id }) => _id);
}

function byAge(one: Due, other: Due): number {
  return one.dueAt.getTime() - other.dueAt.getTime();
}
