import { isDuplicateKey } from './mongo.ts';
import type { Transaction } from './outbox.ts';
import type { Transact } from './transact.ts';

/** The item's transaction is not known to be committed in time; it may be, so the same item must be submitted again. */
class CommitTimeoutError extends Error {
  override readonly name = 'CommitTimeoutError';
}

/** Lets concurrent work share transactions: durability is cheap when shared (design 3, facts). */
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

interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly done: PromiseWithResolvers<Outcome>;
}

const CAREFUL_RERUNS_MAX = 5;
const ANSWER_TIMEOUT_MS = 10_000;

/** Builds a {@link GroupCommit}: at most `groupsMax` transactions in flight, each of up to `itemsMax` items. */
export function createGroupCommit<Item, Outcome>(options: {
  readonly name: string;
  readonly source: string;
  readonly transact: Transact;
  readonly nextSequence: () => number;
  readonly apply: ApplyGroup<Item, Outcome>;
  readonly itemsMax?: number;
  readonly groupsMax?: number;
}): GroupCommit<Item, Outcome> {
  const itemsMax = options.itemsMax ?? 200;
  const groupsMax = options.groupsMax ?? 2;
  const waiting: Waiting<Item, Outcome>[] = [];
  let groups = 0;

  async function commit(items: readonly Item[], careful: boolean): Promise<readonly Outcome[]> {
    const origin = { source: options.source, sequence: options.nextSequence() };
    const { value } = await options.transact(options.name, origin, (tx) => options.apply(items, tx, careful));
    return value;
  }

  async function commitCarefully(items: readonly Item[]): Promise<readonly Outcome[]> {
    try {
      return await commit(items, false);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    for (let rerun = 1; ; rerun += 1) {
      try {
        return await commit(items, true);
      } catch (error) {
        if (!isDuplicateKey(error) || rerun === CAREFUL_RERUNS_MAX) throw error;
      }
    }
  }

  async function settle(group: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await commitCarefully(group.map(({ item }) => item));
      for (const [index, { done }] of group.entries()) done.resolve(outcomes[index] as Outcome);
    } catch (error) {
      if (group.length === 1 || isUnavailable(error)) {
        for (const { done } of group) done.reject(error);
        return;
      }
      // One item that can't be applied must not take the others down with it.
      for (const single of group) await settle([single]);
    }
  }

  function pump(): void {
    while (groups < groupsMax && waiting.length > 0) {
      groups += 1;
      void settle(waiting.splice(0, itemsMax)).finally(() => {
        groups -= 1;
        pump();
      });
    }
  }

  return {
    submit: (item) => {
      const done = Promise.withResolvers<Outcome>();
      const late = setTimeout(
        () => done.reject(new CommitTimeoutError('not committed in time')),
        ANSWER_TIMEOUT_MS,
      );
      const settled = () => clearTimeout(late);
      done.promise.then(settled, settled);
      waiting.push({ item, done });
      // One turn of the event loop later, so that requests that arrived together share the first transaction too.
      if (waiting.length === 1) setImmediate(pump);
      return done.promise;
    },
  };
}

function isUnavailable(error: unknown): boolean {
  return (
    error instanceof Error &&
    /^Mongo(?:Network|ServerSelection|WaitQueue|PoolCleared|NotConnected)/.test(error.name)
  );
}
