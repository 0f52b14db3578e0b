import type { PaymentKind } from '@pesewa/contracts';
import type { Messaging, OutgoingEvent, Transaction } from '@pesewa/messaging';
import { LRUCache } from 'lru-cache';
import type { Callback, Claim } from './domain/callback.ts';
import type { CallbackRecord, Decision, StoredRecords } from './domain/reception.ts';
import type { CallbackStore } from './store.ts';

/** A callback's data for its event. */
interface ReportableCallback {
  readonly rail: string;
  readonly kind: PaymentKind;
  readonly digest: string;
  readonly claim: Claim;
  /** Whether the claim is a fact. */
  readonly proven: boolean;
  /** When it was passed on, according to its record. */
  readonly atMs: number;
  /** The trace of its request; if it is passed on by hand, a new one. */
  readonly traceparent?: string;
}

/** One item of a shared transaction: how to decide on the stored records, and what to publish if it is passed on. */
export interface WriteRequest<Outcome> {
  /** The key of the first bytes under its id. */
  readonly key: string;
  /** The key of its own bytes if others came first under its id; the same key if its bytes are its id. */
  readonly otherKey: string;
  readonly decide: (remembered: StoredRecords) => Decision<Outcome>;
  readonly report: Omit<ReportableCallback, 'claim' | 'atMs'>;
  /** The callback to store if there is no record yet; absent if the work is about a stored one. */
  readonly callback: Callback | undefined;
  /** How many bytes it holds in memory. */
  readonly bytes: number;
}

interface Deps {
  readonly store: Pick<CallbackStore, 'load' | 'save'>;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
}

const RECENT_MAX = 20_000;

/**
 * Opens a writer of shared transactions for work of one kind, so that a flood in one writer takes no capacity from another.
 *
 * New callbacks are written without reading first; if a key turns out to be taken, their group is rerun and reads
 * first. Repetitions are mostly of recent callbacks, whose keys are cached here.
 */
export function openCallbackWriter<Outcome>(deps: Deps): (work: WriteRequest<Outcome>) => Promise<Outcome> {
  const recent = new LRUCache<string, true>({ max: RECENT_MAX });
  const writer = deps.messaging.groupCommit<WriteRequest<Outcome>, Outcome>(
    'callbacks.accept',
    async (group, transaction, isRetry) => {
      const readsFirst = isRetry || group.some(({ key, callback }) => !callback || recent.has(key));
      for (const { key } of group) recent.set(key, true);
      return apply(deps, group, transaction, readsFirst);
    },
    { ownerOf: ({ key }) => key },
  );
  return writer.submit;
}

/**
 * Decides about a group in order, each item with the results of those before it, and stores the outcomes with the
 * events.
 */
async function apply<Outcome>(
  { store }: Deps,
  group: readonly WriteRequest<Outcome>[],
  transaction: Transaction,
  readsFirst: boolean,
): Promise<readonly Outcome[]> {
  const keys = new Set(group.flatMap(({ key, otherKey }) => [key, otherKey]));
  const known = readsFirst
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
  for (const { key, otherKey, decide, report, callback } of group) {
    const first = before.get(key);
    // The record of the first bytes may be deleted before those of later ones.
    const isFirst = first ? first.digest === report.digest : callback !== undefined || !before.has(otherKey);
    const ownKey = isFirst ? key : otherKey;
    const decision = decide({ first, own: before.get(ownKey) });
    if (first && decision.first && !isFirst) keep(key, decision.first, undefined);
    if (decision.own) keep(ownKey, decision.own, callback);
    const { passesOn } = decision;
    if (passesOn) {
      const proven = report.proven && passesOn.mayBeProven;
      transaction.emit(callbackReceived({ ...report, claim: passesOn.claim, proven, atMs: passesOn.atMs }));
    }
    outcomes.push(decision.outcome);
  }
  if (records.size > 0) await store.save({ fresh, records }, transaction.session);
  return outcomes;
}

/** The event of a callback. */
function callbackReceived(callback: ReportableCallback): OutgoingEvent {
  const { rail, kind, claim, digest, proven, atMs, traceparent } = callback;
  return {
    topic: 'railCallbacks',
    key: claim.reference,
    // A callback does not know the payment's version.
    version: 0n,
    causationId: null,
    ...(traceparent !== undefined && { traceparent }),
    type: 'pesewa.rails.CallbackReceived',
    payload: { occurredAt: BigInt(atMs), rail, kind, ...claim, digest, proven },
  };
}
