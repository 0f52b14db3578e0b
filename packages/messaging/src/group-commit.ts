import { isDuplicateKey, isPassing, isWriteConflict } from './mongo.ts';
import type { Transaction } from './outbox.ts';
import { splitByOwner } from './split.ts';
import type { Transact } from './transact.ts';

/** The item is not known to be committed in time; it may be, so the same item must be submitted again. */
class CommitTimeoutError extends Error {
  override readonly name = 'CommitTimeoutError';
}

/** Whoever submitted one of the group was told meanwhile that it is not known to be committed. */
class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}

/** Lets concurrent work share transactions: durability is cheap when shared (ADR 4). */
export interface GroupCommit<Item, Outcome> {
  /** Resolves once the item's transaction is majority-committed; rejects when it is not known to be. */
  readonly submit: (item: Item) => Promise<Outcome>;
}

/**
 * Applies a group of items in one transaction and gives their outcomes in the same order.
 *
 * `careful` is true on a rerun after a unique key was found taken: then look before writing.
 */
export type ApplyGroup<Item, Outcome> = (
  items: readonly Item[],
  transaction: Transaction,
  careful: boolean,
) => Promise<readonly Outcome[]>;

/** How a group commit groups. */
export interface GroupLimits<Item> {
  /** How many items share a transaction at most; where it is one, a conflict is retried in place. */
  readonly itemsMax?: number;
  /** How many transactions are in flight at most, beside those of items in conflict. */
  readonly groupsMax?: number;
  /** Whose conflicts are not to delay anyone else's items; without it each item stands for itself. */
  readonly ownerOf?: (item: Item) => string;
}

interface Entry<Item, Outcome> {
  readonly item: Item;
  readonly done: PromiseWithResolvers<Outcome>;
  /** Ends its time. */
  late: NodeJS.Timeout | undefined;
  /** Its time has passed, and whoever submitted it was told so: no new transaction takes it. */
  abandoned: boolean;
  /** How often it has been in conflict by itself. */
  conflicts: number;
}

type Group<Item, Outcome> = readonly Entry<Item, Outcome>[];

const CAREFUL_RERUNS_MAX = 5;
const ANSWER_TIMEOUT_MS = 10_000;
const UNSETTLED_MAX = 10_000;
const CONFLICTING_GROUPS_MAX = 2;
const CONFLICT_PAUSE_MS = { first: 20, last: 320 } as const;

/**
 * Builds a {@link GroupCommit}: at most `groupsMax` transactions in flight, each of up to `itemsMax` items.
 *
 * Items in conflict with another transaction leave their group at once and are tried again in a lane of their own: the
 * other transaction may take seconds, and nobody else is to wait for it.
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
  const { itemsMax = 200, groupsMax = 2, ownerOf } = options;
  const ownerOfEntry = ownerOf && (({ item }: Entry<Item, Outcome>) => ownerOf(item));
  const waiting: Entry<Item, Outcome>[] = [];
  const conflicting: Group<Item, Outcome>[] = [];
  const settle = createSettle({ ...options, conflicts: itemsMax === 1 ? 'retry' : 'throw', close });
  let unsettled = 0;

  const pump = createPump(groupsMax, takeGroup, (group) => settle(group, apart));
  const pumpConflicting = createPump(
    CONFLICTING_GROUPS_MAX,
    () => conflicting.shift(),
    (group) => settle(group, again),
  );

  /** Whether the entry was still waited for; it no longer is. */
  function close({ late, abandoned }: Entry<Item, Outcome>): boolean {
    if (abandoned) return false;
    clearTimeout(late);
    unsettled -= 1;
    return true;
  }

  function takeGroup(): Group<Item, Outcome> | undefined {
    return waiting.length > 0 ? waiting.splice(0, itemsMax) : undefined;
  }

  /** What a conflict in a group's place comes to: the others commit at once, its owner's items change lanes. */
  async function apart(group: Group<Item, Outcome>): Promise<void> {
    const parts = splitByOwner(group, ownerOfEntry);
    if (parts) for (const part of parts) await settle(part, apart);
    else enqueueConflicting(group);
  }

  /** What a conflict in the lane comes to: smaller groups, and for one that is alone a pause. */
  function again(group: Group<Item, Outcome>): void {
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
    pumpConflicting();
  }

  /** From here on no transaction takes the entry up, behind the back of whoever is told so. */
  function abandon(entry: Entry<Item, Outcome>): void {
    entry.abandoned = true;
    const place = waiting.indexOf(entry);
    if (place !== -1) waiting.splice(place, 1);
    unsettled -= 1;
    entry.done.reject(new CommitTimeoutError('not committed in time'));
  }

  return {
    submit: (item) => {
      const done = Promise.withResolvers<Outcome>();
      if (unsettled >= UNSETTLED_MAX) return Promise.reject(new CommitTimeoutError('too much is waiting'));
      const entry: Entry<Item, Outcome> = { item, done, late: undefined, abandoned: false, conflicts: 0 };
      entry.late = setTimeout(() => abandon(entry), ANSWER_TIMEOUT_MS);
      unsettled += 1;
      waiting.push(entry);
      // One turn of the event loop later, so that requests that arrived together share the first transaction too.
      if (waiting.length === 1) setImmediate(pump);
      return done.promise;
    },
  };
}

/** Works off what there is to take, so much at a time; the work must not fail. */
function createPump<Work>(
  runsMax: number,
  take: () => Work | undefined,
  run: (work: Work) => Promise<void>,
): () => void {
  let runs = 0;
  const pump = () => {
    while (runs < runsMax) {
      const work = take();
      if (work === undefined) return;
      runs += 1;
      void run(work).finally(() => {
        runs -= 1;
        pump();
      });
    }
  };
  return pump;
}

/** Builds what commits a group and tells each entry its outcome; a group in conflict is handed on. */
function createSettle<Item, Outcome>(options: {
  readonly name: string;
  readonly source: string;
  readonly transact: Transact;
  readonly nextSequence: () => number;
  readonly apply: ApplyGroup<Item, Outcome>;
  readonly conflicts: 'retry' | 'throw';
  readonly close: (entry: Entry<Item, Outcome>) => boolean;
}) {
  async function commit(group: Group<Item, Outcome>, careful: boolean): Promise<void> {
    const origin = { source: options.source, sequence: options.nextSequence() };
    const work = async (transaction: Transaction) => {
      // Looked at in every try: a try may come seconds after the one before.
      const live = group.every(isLive) ? group : group.filter(isLive);
      if (live.length === 0) throw new AbandonedError('nobody waits any more');
      const outcomes = await options.apply(live.map(itemOf), transaction, careful);
      if (!live.every(isLive)) throw new AbandonedError('given up meanwhile');
      return { live, outcomes };
    };
    const { value } = await options.transact(options.name, origin, work, options.conflicts);
    const { live, outcomes } = value;
    let index = 0;
    for (const entry of live) {
      if (options.close(entry)) entry.done.resolve(outcomes[index] as Outcome);
      index += 1;
    }
  }

  return async function settle(
    group: Group<Item, Outcome>,
    conflicted: (group: Group<Item, Outcome>) => Promise<void> | void,
  ): Promise<void> {
    try {
      await runCarefully((careful) => commit(group, careful));
    } catch (error) {
      const live = group.filter(isLive);
      if (live.length === 0) return;
      if (error instanceof AbandonedError) return settle(live, conflicted);
      if (options.conflicts === 'throw' && isWriteConflict(error)) return conflicted(live);
      // What failed is not the items: they may be stored, or nothing can be, and trying each would only take longer.
      if (live.length === 1 || isPassing(error))
        for (const entry of live) {
          options.close(entry);
          entry.done.reject(error);
        }
      // One item that can't be applied must not take the others down with it.
      else for (const single of live) await settle([single], conflicted);
    }
  };
}

function isLive(entry: { readonly abandoned: boolean }): boolean {
  return !entry.abandoned;
}

function itemOf<Item>(entry: { readonly item: Item }): Item {
  return entry.item;
}

/** Runs once without looking; where a unique key was taken meanwhile, again with care. */
async function runCarefully(run: (careful: boolean) => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await run(tries > 0);
    } catch (error) {
      if (!isDuplicateKey(error) || tries === CAREFUL_RERUNS_MAX) throw error;
    }
  }
}
