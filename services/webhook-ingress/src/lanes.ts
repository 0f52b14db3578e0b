import type { Messaging, Transaction } from '@pesewa/messaging';
import type { Callback } from './domain/callback.ts';
import type { CallbackRecord, Decision, Remembered } from './domain/reception.ts';
import type { CallbackEvents, TellableCallback } from './events.ts';
import type { CallbackStore } from './store.ts';

/** One item of a shared transaction: how to decide on what is remembered, and what to tell if it is passed on. */
export interface Work<Outcome> {
  /** Of what came first under its id. */
  readonly key: string;
  /** Of its own bytes, where others came first under its id; the same key where its bytes are its id. */
  readonly otherKey: string;
  readonly decide: (remembered: Remembered) => Decision<Outcome>;
  readonly tells: Omit<TellableCallback, 'claim' | 'atMs'>;
  /** What to store where nothing is remembered; without it the work is about what is stored. */
  readonly callback: Callback | undefined;
  /** What it holds in memory. */
  readonly bytes: number;
}

interface Deps {
  readonly store: Pick<CallbackStore, 'load' | 'save'>;
  readonly events: CallbackEvents;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
}

const RECENT_MAX = 20_000;

/**
 * Opens a lane of shared transactions for work of one kind: a flood in one lane takes no place in another.
 *
 * What comes for the first time is written without a look: a key that turns out to be taken makes its group look first. A
 * repeat is mostly of something recent, whose key is known here.
 */
export function openLane<Outcome>(deps: Deps): (work: Work<Outcome>) => Promise<Outcome> {
  const recent = createRecentKeys();
  const lane = deps.messaging.groupCommit<Work<Outcome>, Outcome>(
    'callbacks.accept',
    async (group, transaction, careful) => {
      const looksFirst = careful || group.some(({ key, callback }) => !callback || recent.has(key));
      for (const { key } of group) recent.add(key);
      return apply(deps, group, transaction, looksFirst);
    },
    { ownerOf: ({ key }) => key },
  );
  return lane.submit;
}

/** Decides on a group in order, each item knowing those before it, and stores what came of it with the events. */
async function apply<Outcome>(
  { store, events }: Deps,
  group: readonly Work<Outcome>[],
  transaction: Transaction,
  looksFirst: boolean,
): Promise<readonly Outcome[]> {
  const keys = new Set(group.flatMap(({ key, otherKey }) => [key, otherKey]));
  const known = looksFirst
    ? await store.load([...keys], transaction.session)
    : new Map<string, CallbackRecord>();
  const before = new Map(known);
  const records = new Map<string, CallbackRecord>();
  const fresh = new Map<string, Callback>();
  const outcomes: Outcome[] = [];
  const keep = (key: string, record: CallbackRecord, callback: Callback | undefined) => {
    if (callback && !before.has(key)) fresh.set(key, callback);
    before.set(key, record);
    records.set(key, record);
  };
  for (const { key, otherKey, decide, tells, callback } of group) {
    const first = before.get(key);
    // What came first may be forgotten before what came later.
    const isFirst = first ? first.digest === tells.digest : callback !== undefined || !before.has(otherKey);
    const ownKey = isFirst ? key : otherKey;
    const decision = decide({ first, own: before.get(ownKey) });
    if (first && decision.first && !isFirst) keep(key, decision.first, undefined);
    if (decision.own) keep(ownKey, decision.own, callback);
    const { passesOn } = decision;
    if (passesOn) {
      const proven = tells.proven && passesOn.mayBeProven;
      transaction.emit(events.received({ ...tells, claim: passesOn.claim, proven, atMs: passesOn.atMs }));
    }
    outcomes.push(decision.outcome);
  }
  if (records.size > 0) await store.save({ fresh, records }, transaction.session);
  return outcomes;
}

/** The keys that were last written, so many. */
function createRecentKeys() {
  const keys = new Set<string>();
  return {
    has: (key: string) => keys.has(key),
    add: (key: string) => {
      keys.delete(key);
      keys.add(key);
      const [oldest] = keys.size > RECENT_MAX ? keys : [];
      if (oldest !== undefined) keys.delete(oldest);
    },
  };
}
