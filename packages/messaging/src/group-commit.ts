import { isDuplicateKey } from './mongo.ts';
import type { Transaction } from './outbox.ts';
import type { Transact } from './transact.ts';

/** The item is not known to be committed in time; it may be, so the same item must be submitted again. */
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
const WAITING_MAX = 10_000;

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

  async function settle(group: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await runCarefully((careful) =>
        commit(
          group.map(({ item }) => item),
          careful,
        ),
      );
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
      if (waiting.length >= WAITING_MAX) return Promise.reject(new CommitTimeoutError('too much is waiting'));
      const entry = { item, done };
      const late = setTimeout(() => {
        // Not begun: then it is not stored later either, behind the back of whoever was told so.
        const place = waiting.indexOf(entry);
        if (place !== -1) waiting.splice(place, 1);
        done.reject(new CommitTimeoutError('not committed in time'));
      }, ANSWER_TIMEOUT_MS);
      const settled = () => clearTimeout(late);
      done.promise.then(settled, settled);
      waiting.push(entry);
      // One turn of the event loop later, so that requests that arrived together share the first transaction too.
      if (waiting.length === 1) setImmediate(pump);
      return done.promise;
    },
  };
}

/** Runs once without looking; where a unique key was taken meanwhile, again with care. */
async function runCarefully<Value>(run: (careful: boolean) => Promise<Value>): Promise<Value> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await run(tries > 0);
    } catch (error) {
      if (!isDuplicateKey(error) || tries === CAREFUL_RERUNS_MAX) throw error;
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return (
    error instanceof Error &&
    /^Mongo(?:Network|ServerSelection|WaitQueue|PoolCleared|NotConnected)/.test(error.name)
  );
}
