import type { Clock, Ids } from '@pesewa/kernel';
import type { Collection, Document, Filter, WithId } from 'mongodb';

/** The fields that claimable records share. */
export interface Claimable {
  readonly _id: string;
  /** When the record is next due; moving it forward is the lease. Absent once nothing is left to do. */
  readonly dueAt?: Date;
  /** The token of the latest claim; what a worker finishes must still carry it. */
  readonly claim?: string;
}

/** A rate that several loops keep together. */
export interface ClaimPace {
  /** Takes so many turns as there are, at most those wanted. */
  readonly take: (wanted: number) => Promise<number>;
  /** Gives back turns for which nothing was claimed: others were quicker. */
  readonly giveBack: (unused: number) => Promise<void>;
  /** When to look again where turns have run out; milliseconds. */
  readonly againMs: number;
}

/** How records are claimed. */
export interface ClaimRules<Record extends Claimable> {
  readonly collection: Collection<Record>;
  /** Which records are open to claiming; served by an index that ends in `dueAt`, or in `dueAt` and `_id`. */
  readonly open: Filter<Record>;
  /** Further aggregation `$set` fields that the claim writes, such as the next state. */
  readonly mark?: Document;
  /**
   * What goes first where more is due than can be claimed: `oldest` (the default), or `halves`, the newest of what has
   * been due for less than half a minute, up to half of the batch, and the oldest otherwise: a backlog keeps nothing new
   * waiting, and goes in order itself.
   */
  readonly first?: 'oldest' | 'halves';
  /** How often anything may be claimed; as often as there is room, where it is left out. */
  readonly pace?: ClaimPace;
  readonly leaseMs: number;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
}

/** What was claimed. */
export interface Batch<Record extends Claimable> {
  readonly token: string;
  /** When it was claimed at the earliest, by our own clock. */
  readonly claimedAtMs: number;
  readonly records: readonly WithId<Record>[];
  /** Whether more may be due. */
  readonly more: boolean;
  /** Whether less was claimed than is due, since turns ran out. */
  readonly isPaced: boolean;
}

/** What is due for longer is no longer fresh: it is part of the backlog, and goes in its order. */
const FRESH_MS = 30_000;

/** Claims batches of due records by moving `dueAt` forward, by the server's clock; never more than `room` at once. */
export function createClaimer<Record extends Claimable>(
  rules: ClaimRules<Record>,
): (room: number) => Promise<Batch<Record>> {
  const { collection, clock } = rules;
  // What is found is due by the server's clock, as far as the newest claim told it: were ours ahead, the newest of what
  // we find would not be due there, and could not be claimed.
  let serverAheadMs = 0;
  let newestIsNext = true;

  const find = (due: Filter<Record>, direction: 1 | -1, limit: number) =>
    idsOf(collection, due, direction, limit);

  const halves = async (dueUntilMs: number, oldest: readonly string[], granted: number) => {
    // Of an odd number, the two ends get the larger half in turn: a pace of one at a time serves both.
    const share = newestIsNext ? Math.ceil(granted / 2) : Math.floor(granted / 2);
    newestIsNext = !newestIsNext;
    const fresh = {
      ...rules.open,
      dueAt: { $gt: new Date(dueUntilMs - FRESH_MS), $lte: new Date(dueUntilMs) },
    };
    const newest = share === 0 ? [] : await find(fresh, -1, share);
    const others = oldest.filter((id) => !newest.includes(id));
    return [...newest, ...others.slice(0, granted - newest.length)];
  };

  const write = async (due: Filter<Record>, ids: readonly string[], token: string) => {
    const stillDue = { ...due, _id: { $in: ids }, $expr: { $lte: ['$dueAt', '$$NOW'] } } as Filter<Record>;
    const lease = { claim: token, dueAt: { $add: ['$$NOW', rules.leaseMs] } };
    const readClaimed = () =>
      collection
        .find({ _id: { $in: ids }, claim: token } as unknown as Filter<Record>)
        .limit(ids.length)
        .batchSize(ids.length)
        .toArray();
    try {
      await collection.updateMany(stillDue, [{ $set: { ...rules.mark, ...lease } }], { hint: { _id: 1 } });
    } catch (error) {
      // The driver does not repeat it: what it came to before the connection broke is ours all the same.
      const records = await readClaimed();
      if (records.length === 0) throw error;
      return records;
    }
    return readClaimed();
  };

  const learn = (records: readonly WithId<Record>[], askedMs: number, answeredMs: number): void => {
    const dueAtMs = records[0]?.dueAt?.getTime();
    if (dueAtMs === undefined) return;
    const serverMs = dueAtMs - rules.leaseMs;
    serverAheadMs = Math.min(0, serverMs - askedMs) + Math.max(0, serverMs - answeredMs);
  };

  return async (room) => {
    const token = rules.ids.next('cm');
    const nowMs = clock.nowMs();
    const dueUntilMs = nowMs + serverAheadMs;
    const due = { ...rules.open, dueAt: { $lte: new Date(dueUntilMs) } } as Filter<Record>;
    const oldest = await find(due, 1, room);
    if (oldest.length === 0) {
      // What was learned may hold no more: our clock may have been set since, and nothing would be found for as long.
      serverAheadMs = 0;
      return { token, claimedAtMs: nowMs, records: [], more: false, isPaced: false };
    }
    const granted = rules.pace ? await rules.pace.take(oldest.length) : oldest.length;
    const isPaced = granted < oldest.length;
    const isFull = oldest.length === room;
    const isFair = rules.first === 'halves' && (isPaced || isFull);
    const chosen = isFair ? await halves(dueUntilMs, oldest, granted) : oldest.slice(0, granted);
    if (chosen.length === 0) return { token, claimedAtMs: nowMs, records: [], more: true, isPaced };
    const claimedAtMs = clock.nowMs();
    const records = await write(due, chosen, token);
    learn(records, claimedAtMs, clock.nowMs());
    // What is claimed is worked on whatever becomes of the turns: those that are lost only slow us down.
    if (granted > records.length) await rules.pace?.giveBack(granted - records.length).catch(() => undefined);
    // Where others were quicker, there is nothing that we would have to hurry for.
    return { token, claimedAtMs, records, more: isFull && records.length === chosen.length, isPaced };
  };
}

/** The ids of so many records, from one end: what the index holds, so that no document is read. */
async function idsOf<Record extends Claimable>(
  collection: Collection<Record>,
  due: Filter<Record>,
  direction: 1 | -1,
  limit: number,
): Promise<readonly string[]> {
  const found = await collection
    .find(due)
    .project<{ _id: string }>({ _id: 1 })
    .sort({ dueAt: direction })
    .limit(limit)
    // All in the one answer, which otherwise holds the first 101.
    .batchSize(limit)
    .toArray();
  return found.map(({ _id }) => _id);
}
