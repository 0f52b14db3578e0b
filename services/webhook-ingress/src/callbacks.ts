import { accept, type Clock, type Ids, type Result, refuse } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import {
  type Callback,
  type CallbackRequest,
  callbackKey,
  type JudgedRequest,
  keptHeaders,
  type RejectionReason,
  refusalOf,
} from './domain/callback.ts';
import {
  type CallbackRecord,
  type Decision,
  type ReceptionOutcome,
  receive,
  redrive,
} from './domain/reception.ts';
import type { CallbackEvents, TellableCallback } from './events.ts';
import { type CallbackRail, placeOf, readClaim } from './reading.ts';
import type { CallbackStore } from './store.ts';
import { takeTurns } from './turns.ts';

/** Why a callback is not taken. */
export type CallbackRefusal = RejectionReason | 'rail.unknown';

/** Why a callback was not driven again. */
export type RedriveRefusal = 'callback.unknown' | 'callback.unreadable';

/** What the ingress does: makes callbacks durable, and tells of each once. */
export interface Callbacks {
  readonly isRail: (name: string) => boolean;
  /**
   * Resolves once the callback is stored for good, a rejected one too; rejects where that is not known (the rail sends it
   * again). `failed` is stored, and must be sent again as well.
   */
  readonly receive: (request: CallbackRequest) => Promise<Result<ReceptionOutcome, CallbackRefusal>>;
  /** Drives a stored callback again, by its id: a failed one is read anew, another one is told of again. */
  readonly redrive: (id: string) => Promise<Result<'passed_on', RedriveRefusal>>;
}

type Outcome = ReceptionOutcome | 'passed_on';

/** One item of a shared transaction: how to decide on what is remembered, and what to tell if it is passed on. */
interface Work {
  readonly key: string;
  readonly decide: (record: CallbackRecord | undefined) => Decision<Outcome>;
  readonly tells: Omit<TellableCallback, 'claim'>;
  /** What to store where nothing is remembered. */
  readonly callback: Callback | undefined;
}

interface Deps {
  readonly store: Pick<CallbackStore, 'load' | 'find' | 'save' | 'insertRejected'>;
  readonly events: CallbackEvents;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly rail: (name: string) => CallbackRail | undefined;
  readonly ids: Ids;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** After how long without word a redelivery is passed on again. */
  readonly repassAfterMs: number;
}

/** Builds {@link Callbacks}. */
export function createCallbacks(deps: Deps): Callbacks {
  const accepting = deps.messaging.groupCommit<Work, Outcome>(
    'callbacks.accept',
    (work, transaction) => apply(deps, work, transaction),
    { ownerOf: ({ key }) => key },
  );
  const submit = takeTurns(accepting.submit);
  const reject = async (request: JudgedRequest, reason: RejectionReason) => {
    await deps.store.insertRejected(request, reason);
    return refuse(reason);
  };
  return {
    isRail: (name) => deps.rail(name) !== undefined,
    receive: async (arrived) => {
      const rail = deps.rail(arrived.rail);
      if (!rail) return refuse('rail.unknown');
      const { messageId, ...verdict } = rail.judgeCallback(arrived);
      const id = deps.ids.next('cb');
      const request = { ...arrived, id, verdict, headers: keptHeaders(arrived.headers) };
      const refusal = refusalOf(verdict);
      if (refusal !== undefined) return reject(request, refusal);
      const reading = readClaim(rail, request.kind, request.body);
      if (reading.kind === 'rejected') return reject(request, reading.reason);
      const callback = { ...request, messageId, claim: reading.kind === 'read' ? reading.claim : null };
      const outcome = (await submit(arrival(callback, deps.repassAfterMs))) as ReceptionOutcome;
      const about = { rail: callback.rail, kind: callback.kind, digest: callback.digest };
      if (reading.kind === 'broken')
        deps.logger.error({ ...about, outcome, broken: placeOf(reading.error) }, 'reading a callback broke');
      if (outcome === 'id_reused') {
        deps.logger.warn({ ...about, messageId }, 'a callback came with the id of another one');
        // A capped collection takes no part in transactions; what a crash loses here the rail sends again.
        await deps.store.insertRejected(request, 'id_reused');
      }
      return accept(outcome);
    },
    redrive: async (id) => {
      const stored = await deps.store.find(id);
      if (stored === undefined) return refuse('callback.unknown');
      const rail = deps.rail(stored.rail);
      const reading = rail && readClaim(rail, stored.kind, stored.body);
      const read = reading?.kind === 'read' ? reading.claim : null;
      const { rail: name, kind, digest } = stored;
      const nowMs = deps.clock.nowMs();
      const outcome = await submit({
        key: stored.key,
        decide: (record) => {
          if (record === undefined) throw new Error('a stored callback is gone');
          return redrive(record, read, nowMs);
        },
        tells: {
          rail: name,
          kind,
          digest,
          // What the rail was trusted with then counts for nothing if it is not trusted with it now.
          proven: stored.verdict.signature === 'verified' && rail?.capabilities.callbacks === 'proven',
        },
        callback: undefined,
      });
      return outcome === 'passed_on' ? accept(outcome) : refuse('callback.unreadable');
    },
  };
}

function arrival(callback: Callback, repassAfterMs: number): Work {
  const { rail, kind, digest, verdict } = callback;
  return {
    key: callbackKey(callback),
    decide: (record) => receive(record, callback, repassAfterMs),
    tells: { rail, kind, digest, proven: verdict.proven },
    callback,
  };
}

/** Decides on a group in order, each item knowing those before it, and stores what came of it with the events. */
async function apply(
  { store, events }: Pick<Deps, 'store' | 'events'>,
  group: readonly Work[],
  transaction: Transaction,
): Promise<readonly Outcome[]> {
  const known = await store.load([...new Set(group.map(({ key }) => key))], transaction.session);
  const records = new Map(known);
  const fresh = new Map<string, Callback>();
  const outcomes: Outcome[] = [];
  for (const { key, decide, tells, callback } of group) {
    const before = records.get(key);
    const { outcome, record, passesOn } = decide(before);
    if (before === undefined && callback) fresh.set(key, callback);
    records.set(key, record);
    if (passesOn) transaction.emit(events.received({ ...tells, claim: passesOn }));
    outcomes.push(outcome);
  }
  await store.save({ fresh, records }, transaction.session);
  return outcomes;
}
