import { isDuplicateKey, isTransientMongoError, isWriteConflict } from '../database/mongo.ts';
import { UnexpectedDocumentError } from '../database/transaction.ts';
import type { Transaction } from './outbox.ts';
import type { Transact } from './transact.ts';

/**
 * The item was not committed in time, as far as we know. It may still be committed, so the caller must submit the same
 * item again.
 */
class CommitTimeoutError extends Error {
  override readonly name = 'CommitTimeoutError';
}

/** The caller of an item in the group has meanwhile been answered that its item is not known to be committed. */
class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}

/** Lets concurrent work share transactions: a durable commit is slow, and cheap if many share it (ADR 4). */
export interface GroupCommit<Item, Outcome> {
  /** Resolves once the item's transaction is majority-committed; rejects if that is not known to have happened. */
  readonly submit: (item: Item) => Promise<Outcome>;
}

/**
 * Applies a group of items in one transaction and gives their outcomes in the same order.
 *
 * `isRetry` is true on a rerun after a unique key was found taken, or a document was not as expected: then it must read
 * before it writes.
 */
export type ApplyGroup<Item, Outcome> = (
  items: readonly Item[],
  transaction: Transaction,
  isRetry: boolean,
) => Promise<readonly Outcome[]>;

/** The limits of a group commit. */
export interface GroupLimits<Item> {
  /** The most items that share a transaction; with 1 a conflict is retried in place. */
  readonly itemsMax?: number;
  /** Whether its groups share transactions with the service's batches, because they write the same documents. */
  readonly sharesTransactions?: boolean;
  /**
   * The owner of an item: conflicts of one owner's items must not delay another's. Without it each item is its own
   * owner.
   */
  readonly ownerOf?: (item: Item) => string;
}

/** Opens a {@link GroupCommit} of a service; its crash points are named after `name`. */
export type OpenGroupCommit = <Item, Outcome>(
  name: string,
  apply: ApplyGroup<Item, Outcome>,
  limits?: GroupLimits<Item>,
) => GroupCommit<Item, Outcome>;

interface Entry<Item, Outcome> {
  readonly item: Item;
  readonly done: PromiseWithResolvers<Outcome>;
  /** The timer that rejects the item when its time is over. */
  timer: NodeJS.Timeout | undefined;
  /** Its time is over and its caller was answered so: no new transaction may include it. */
  abandoned: boolean;
  /** How often it was in conflict when it was alone in its group. */
  conflicts: number;
}

type Group<Item, Outcome> = readonly Entry<Item, Outcome>[];

const RETRIES_MAX = 5;
const ANSWER_TIMEOUT_MS = 10_000;
const UNFINISHED_MAX = 10_000;
const CONFLICTING_GROUPS_MAX = 2;
const CONFLICT_PAUSE_MS = { first: 20, last: 320 } as const;

/**
 * Builds a {@link GroupCommit}: one transaction in flight, of up to `itemsMax` items. What comes
 * meanwhile shares the next: more in flight would only be smaller.
 *
 * The way of a group: `submit` gathers it → the committer applies it, with its retries and abandoned items → `Transact`
 * (with others, if shared) → `TransactAll` adds outbox records and hands them to the relay → `runTransaction` commits.
 *
 * Items in conflict with another transaction leave their group at once and are retried in a queue of their own: the
 * other transaction may take seconds, and no other item should wait for it.
 */
export function createGroupCommit<Item, Outcome>(
  options: GroupLimits<Item> & {
    readonly name: string;
    readonly source: string;
    readonly transact: Transact;
    readonly nextSequence: () => number;
    readonly apply: ApplyGroup<Item, Outcome>;
  },
): GroupCommit<Item, Outcome> {
  const { itemsMax = 200, ownerOf } = options;
  const ownerOfEntry = ownerOf && (({ item }: Entry<Item, Outcome>) => ownerOf(item));
  const waiting: Entry<Item, Outcome>[] = [];
  const conflicting: Group<Item, Outcome>[] = [];
  const commit = createCommitter({ ...options, conflicts: itemsMax === 1 ? 'retry' : 'throw', stopWaiting });
  let unfinished = 0;

  const runWaiting = createBoundedRunner(1, takeGroup, (group) => commit(group, commitInParts));
  const runConflicting = createBoundedRunner(
    CONFLICTING_GROUPS_MAX,
    () => conflicting.shift(),
    (group) => commit(group, retryConflicting),
  );

  /** Closes the entry; gives whether its caller was still waiting. */
  function stopWaiting({ timer, abandoned }: Entry<Item, Outcome>): boolean {
    if (abandoned) return false;
    clearTimeout(timer);
    unfinished -= 1;
    return true;
  }

  function takeGroup(): Group<Item, Outcome> | undefined {
    return waiting.length > 0 ? waiting.splice(0, itemsMax) : undefined;
  }

  /**
   * Handles a conflict of a group: other owners' items commit at once, those of the conflicting owner go to their own
   * queue.
   */
  async function commitInParts(group: Group<Item, Outcome>): Promise<void> {
    const parts = splitByOwner(group, ownerOfEntry);
    if (parts) for (const part of parts) await commit(part, commitInParts);
    else enqueueConflicting(group);
  }

  /** Handles a conflict in that queue: splits the group, or pauses if it is one item. */
  function retryConflicting(group: Group<Item, Outcome>): void {
    const parts = splitByOwner(group);
    const [only] = group;
    if (parts) for (const part of parts) enqueueConflicting(part);
    else if (only) {
      const { first, last } = CONFLICT_PAUSE_MS;
      setTimeout(() => enqueueConflicting(group), Math.min(first * 2 ** only.conflicts, last));
      only.conflicts += 1;
    }
  }

  function enqueueConflicting(group: Group<Item, Outcome>): void {
    conflicting.push(group);
    runConflicting();
  }

  /**
   * Rejects the entry. From here on no transaction may include it, because its caller is answered that it may not be
   * stored.
   */
  function abandon(entry: Entry<Item, Outcome>): void {
    entry.abandoned = true;
    const place = waiting.indexOf(entry);
    if (place !== -1) waiting.splice(place, 1);
    unfinished -= 1;
    entry.done.reject(new CommitTimeoutError('not committed in time'));
  }

  return {
    submit: (item) => {
      const done = Promise.withResolvers<Outcome>();
      if (unfinished >= UNFINISHED_MAX) return Promise.reject(new CommitTimeoutError('too much is waiting'));
      const entry: Entry<Item, Outcome> = { item, done, timer: undefined, abandoned: false, conflicts: 0 };
      entry.timer = setTimeout(() => abandon(entry), ANSWER_TIMEOUT_MS);
      unfinished += 1;
      waiting.push(entry);
      // Waits for one turn of the event loop, so that requests that arrived together share even the first transaction.
      if (waiting.length === 1) setImmediate(runWaiting);
      return done.promise;
    },
  };
}

/** Runs the waiting work, at most `runsMax` pieces at once; the work must not fail. */
function createBoundedRunner<Work>(
  runsMax: number,
  take: () => Work | undefined,
  run: (work: Work) => Promise<void>,
): () => void {
  let runs = 0;
  const start = () => {
    while (runs < runsMax) {
      const work = take();
      if (work === undefined) return;
      runs += 1;
      void run(work).finally(() => {
        runs -= 1;
        start();
      });
    }
  };
  return start;
}

/**
 * Builds the function that commits a group and gives each entry its outcome; a group in conflict goes to `conflicted`.
 */
function createCommitter<Item, Outcome>(options: {
  readonly name: string;
  readonly source: string;
  readonly transact: Transact;
  readonly nextSequence: () => number;
  readonly apply: ApplyGroup<Item, Outcome>;
  readonly conflicts: 'retry' | 'throw';
  readonly stopWaiting: (entry: Entry<Item, Outcome>) => boolean;
}) {
  async function commit(group: Group<Item, Outcome>, isRetry: boolean): Promise<void> {
    const origin = { source: options.source, sequence: options.nextSequence() };
    const work = async (transaction: Transaction) => {
      // Checked in every attempt, because an attempt may come seconds after the one before.
      const live = group.every(isLive) ? group : group.filter(isLive);
      if (live.length === 0) throw new AbandonedError('no caller waits any more');
      const outcomes = await options.apply(live.map(itemOf), transaction, isRetry);
      if (!live.every(isLive)) throw new AbandonedError('given up meanwhile');
      return { live, outcomes };
    };
    const { value } = await options.transact(options.name, origin, work, options.conflicts);
    const { live, outcomes } = value;
    let index = 0;
    for (const entry of live) {
      if (options.stopWaiting(entry)) entry.done.resolve(outcomes[index] as Outcome);
      index += 1;
    }
  }

  return async function commitGroup(
    group: Group<Item, Outcome>,
    conflicted: (group: Group<Item, Outcome>) => Promise<void> | void,
  ): Promise<void> {
    try {
      await runWithRetries((isRetry) => commit(group, isRetry));
    } catch (error) {
      const live = group.filter(isLive);
      if (live.length === 0) return;
      if (error instanceof AbandonedError) return commitGroup(live, conflicted);
      if (options.conflicts === 'throw' && isWriteConflict(error)) return conflicted(live);
      // A transient fault is not the items' fault: they may be stored, or nothing can be stored now, and trying each by
      // itself would only take longer.
      if (live.length === 1 || isTransientMongoError(error))
        for (const entry of live) {
          options.stopWaiting(entry);
          entry.done.reject(error);
        }
      // One item that can't be applied must not make the others fail.
      else for (const single of live) await commitGroup([single], conflicted);
    }
  };
}

function isLive(entry: { readonly abandoned: boolean }): boolean {
  return !entry.abandoned;
}

function itemOf<Item>(entry: { readonly item: Item }): Item {
  return entry.item;
}

/** Runs the work, without reading first. If what it wrote blindly does not fit, it runs again with `isRetry`. */
async function runWithRetries(run: (isRetry: boolean) => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await run(tries > 0);
    } catch (error) {
      const mustRead = isDuplicateKey(error) || error instanceof UnexpectedDocumentError;
      if (!mustRead || tries === RETRIES_MAX) throw error;
    }
  }
}

/**
 * Splits a group into two parts of about half its size such that no owner has items in both; undefined if all items are
 * one owner's. Without owners each item is its own owner. An owner's items keep their order.
 */
export function splitByOwner<Item>(
  group: readonly Item[],
  ownerOf?: (item: Item) => string,
): readonly [readonly Item[], readonly Item[]] | undefined {
  const half = group.length >> 1;
  if (half === 0) return undefined;
  if (!ownerOf) return [group.slice(0, half), group.slice(half)];
  const owners = [...Map.groupBy(group, ownerOf).values()];
  if (owners.length === 1) return undefined;
  const first: Item[] = [];
  const second: Item[] = [];
  for (const items of owners) {
    const part = first.length < half && items !== owners.at(-1) ? first : second;
    part.push(...items);
  }
  return [first, second];
}
