import type { Clock, Ids } from '@pesewa/kernel';
import type { Collection, Condition, Document, Filter, WithId } from 'mongodb';
import type { RunSerially } from '../outbox/transact.ts';
import { createQueueSearch, type FoundDue, type Queues } from './queue-search.ts';

/** The fields that claimable records share. */
export interface Claimable {
  readonly _id: string;
  /** When the record is next due; moving it forward is the lease. Absent once the record needs no more work. */
  readonly dueAt?: Date;
  /** The token of the latest claim; a worker may finish only a record that still has its token. */
  readonly claim?: string;
}

/** Tokens of a rate limit. */
export interface Tokens {
  readonly count: number;
  /** When they were taken, by the database's clock; absent if there are none. */
  readonly at?: Date;
}

/** A rate limit that several loops share. */
export interface ClaimRateLimit {
  /** Takes as many tokens as there are, at most `wanted`. */
  readonly take: (wanted: number) => Promise<Tokens>;
  /** Returns tokens for which nothing was claimed because others were quicker. */
  readonly giveBack: (unused: number) => Promise<void>;
  /** When to try again after tokens have run out; milliseconds. */
  readonly retryAfterMs: number;
}

/** How records are claimed. */
export interface ClaimRules<One extends Claimable> {
  readonly collection: Collection<One>;
  /** Which records can be claimed; needs an index that ends in `dueAt`, or in `dueAt` and `_id`. */
  readonly open: Filter<One>;
  /** Further aggregation `$set` fields that the claim writes, such as the next state. */
  readonly alsoSet?: Document;
  /** The field that gets the time of the claim, by the database's clock. */
  readonly claimTimeField?: keyof One & string;
  /**
   * Which records go first if more are due than can be claimed. `oldestFirst` is the default. `newestAndOldest` gives up to half of
   * the batch to the newest of those due for less than half a minute, and the rest to the oldest: a backlog delays no
   * new record and is itself worked off in order. {@link Queues} are the oldest of those queues that have room.
   */
  readonly priority?: 'oldestFirst' | 'newestAndOldest' | Queues<One>;
  /** The rate limit on claims; without it as many are claimed as there is room for. */
  readonly rateLimit?: ClaimRateLimit;
  /** Runs the claim when the transactions that write the same records are over; at once, if left out. */
  readonly runSerially?: RunSerially;
  readonly leaseMs: number;
  /**
   * Called after every search for due records, and after claims on write, with how many were claimed and whether the
   * rate limit left others waiting.
   */
  readonly claimed?: (records: number, isRateLimited: boolean) => void;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** What was claimed. */
export interface ClaimedBatch<One extends Claimable> {
  readonly token: string;
  /** The earliest time at which it can have been claimed, by our own clock. */
  readonly claimedAtMs: number;
  readonly records: readonly WithId<One>[];
  /** Whether more may be due. */
  readonly more: boolean;
  /** Whether fewer were claimed than are due because tokens ran out. */
  readonly isRateLimited: boolean;
}

/** A record due for longer than this is not fresh any more: it belongs to the backlog and goes in its order. */
const FRESH_MS = 30_000;

/**
 * Claims batches of due records by moving `dueAt` forward, by the server's clock; never more than `room` at once, nor
 * more than `reserve` reserves of what was found.
 */
export function createClaimer<One extends Claimable>(
  rules: ClaimRules<One>,
): (room: number, reserve?: (found: number) => number) => Promise<ClaimedBatch<One>> {
  const { clock, priority } = rules;
  // Records are searched by the server's clock, as the newest claim showed it. If we searched by a clock that is
  // ahead, the newest records found would not be due on the server yet and could not be claimed.
  let serverAheadMs = 0;
  let newestIsNext = true;

  const search =
    typeof priority === 'object'
      ? createQueueSearch(rules, priority)
      : async (dueUntil: Date, room: number): Promise<FoundDue> => {
          const ids = await findDue(rules, { $lte: dueUntil }, 1, room);
          return { ids, more: ids.length === room, isCut: false };
        };

  const pickNewestAndOldest = async (dueUntilMs: number, oldest: readonly string[], granted: number) => {
    // If the number is odd, the two ends get the larger half in turn, so that a limit of one at a time serves both.
    const share = newestIsNext ? Math.ceil(granted / 2) : Math.floor(granted / 2);
    newestIsNext = !newestIsNext;
    const fresh = { $gt: new Date(dueUntilMs - FRESH_MS), $lte: new Date(dueUntilMs) };
    const newest = share === 0 ? [] : await findDue(rules, fresh, -1, share);
    const others = oldest.filter((id) => !newest.includes(id));
    return [...newest, ...others.slice(0, granted - newest.length)];
  };

  const measureServerClock = (records: readonly WithId<One>[], askedMs: number, answeredMs: number): void => {
    const serverMs = (records[0]?.dueAt?.getTime() ?? Number.NaN) - rules.leaseMs;
    if (Number.isNaN(serverMs)) return;
    serverAheadMs = Math.min(0, serverMs - askedMs) + Math.max(0, serverMs - answeredMs);
  };

  return async (room, reserve = (found) => found) => {
    const token = rules.ids.next('cm');
    const nowMs = clock.nowMs();
    const dueUntilMs = nowMs + serverAheadMs;
    const dueUntil = new Date(dueUntilMs);
    const { ids: oldest, more, isCut } = await search(dueUntil, room);
    if (oldest.length === 0) {
      // The measured difference may be wrong by now, because our clock may have been set since; without this nothing
      // might be found until it catches up.
      if (!isCut) serverAheadMs = 0;
      return { token, claimedAtMs: nowMs, records: [], more, isRateLimited: false };
    }
    const wanted = reserve(oldest.length);
    const granted = rules.rateLimit && wanted > 0 ? (await rules.rateLimit.take(wanted)).count : wanted;
    const isRateLimited = granted < wanted;
    const isFull = more || wanted < oldest.length;
    const isFair = priority === 'newestAndOldest' && (isRateLimited || isFull);
    const chosen = isFair ? await pickNewestAndOldest(dueUntilMs, oldest, granted) : oldest.slice(0, granted);
    if (chosen.length === 0) return { token, claimedAtMs: nowMs, records: [], more: true, isRateLimited };
    const { claimedAtMs, records } = await claimAll(rules, dueUntil, chosen, token);
    measureServerClock(records, claimedAtMs, clock.nowMs());
    // Claimed records are worked on even if tokens can't be given back: lost tokens only slow us down.
    if (granted > records.length)
      await rules.rateLimit?.giveBack(granted - records.length).catch(() => undefined);
    // If others were quicker, there is no reason to claim again at once, unless queues have not been looked at yet.
    const goesOn = isCut || (isFull && records.length === chosen.length);
    return { token, claimedAtMs, records, more: goesOn, isRateLimited };
  };
}

/** Claims those of the records that are still due. Gives them, and when, by our own clock, they were claimed at the earliest. */
async function claimAll<One extends Claimable>(
  rules: ClaimRules<One>,
  dueUntil: Date,
  ids: readonly string[],
  token: string,
): Promise<{ readonly records: readonly WithId<One>[]; readonly claimedAtMs: number }> {
  const { collection, open, clock, runSerially = (work) => work() } = rules;
  const stillDue = {
    ...open,
    _id: { $in: ids },
    dueAt: { $lte: dueUntil },
    $expr: { $lte: ['$dueAt', '$$NOW'] },
  } as Filter<One>;
  const stamped = rules.claimTimeField !== undefined && { [rules.claimTimeField]: '$$NOW' };
  const lease = { ...stamped, claim: token, dueAt: { $add: ['$$NOW', rules.leaseMs] } };
  const readClaimed = () =>
    collection
      .find({ _id: { $in: ids }, claim: token } as unknown as Filter<One>)
      .limit(ids.length)
      .batchSize(ids.length)
      .toArray();
  let claimedAtMs = clock.nowMs();
  try {
    await runSerially(() => {
      claimedAtMs = clock.nowMs();
      return collection.updateMany(stillDue, [{ $set: { ...rules.alsoSet, ...lease } }], {
        hint: { _id: 1 },
      });
    });
  } catch (error) {
    // The driver does not retry this update. Records that it changed before the connection broke are ours all the
    // same.
    const records = await readClaimed();
    if (records.length === 0) throw error;
    return { records, claimedAtMs };
  }
  return { records: await readClaimed(), claimedAtMs };
}

/** Makes records due again that were claimed and are not worked on, unless their claims were replaced. */
export async function releaseClaims<One extends Claimable>(
  { collection, runSerially = (work) => work() }: Pick<ClaimRules<One>, 'collection' | 'runSerially'>,
  ids: readonly string[],
  claim: string,
): Promise<void> {
  const held = { _id: { $in: ids }, claim } as unknown as Filter<One>;
  await runSerially(() => collection.updateMany(held, [{ $set: { dueAt: '$$NOW' } }, { $unset: 'claim' }]));
}

/** The ids of so many due records, from one end of the index. */
async function findDue<One extends Claimable>(
  { collection, open }: Pick<ClaimRules<One>, 'collection' | 'open'>,
  dueAt: Condition<Date>,
  direction: 1 | -1,
  limit: number,
): Promise<readonly string[]> {
  // The id alone, so that no document is read.
  const found = await collection
    .find({ ...open, dueAt } as Filter<One>)
    .project<{ readonly _id: string }>({ _id: 1 })
    .sort({ dueAt: direction })
    .limit(limit)
    // One answer holds all of them; by default it would hold the first 101.
    .batchSize(limit)
    .toArray();
  return found.map(({ _id }) => _id);
}
