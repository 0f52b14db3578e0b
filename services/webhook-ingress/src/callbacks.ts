import { hash } from 'node:crypto';
import type { PaymentKind } from '@pesewa/contracts';
import { type Clock, continueTrace, type Ids, type Result, refuse, withDeadline } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import { createTokenBucket, partOf, type ReadCallback, type TokenBucket } from '@pesewa/rails';
import { createThrottledLog, currentTraceparent, type Logger } from '@pesewa/runtime';
import { openCallbackWriter, type WriteRequest } from './callback-writer.ts';
import { type CallbackRail, readClaim, stackLineOf } from './claim-reading.ts';
import {
  type Callback,
  type CallbackRequest,
  type CheckedRequest,
  callbackKeys,
  headerOf,
  isAuthenticated,
  keptHeaders,
  keptOf,
  type RejectionReason,
  refusalOf,
} from './domain/callback.ts';
import { type ReceptionOutcome, receive } from './domain/reception.ts';
import { serialiseByKey } from './key-serialiser.ts';
import { createOperatorActions, type OperatorActions } from './operator-actions.ts';
import type { CallbackStore } from './store.ts';

/**
 * Why a callback is not accepted. `rate_exceeded`, `no_room`, `overloaded` and `not_kept` are due to us: nothing is stored, and
 * the callback may be sent again.
 */
export type CallbackRefusal = RejectionReason | 'rate_exceeded' | 'no_room' | 'overloaded' | 'not_kept';

/**
 * Takes one callback. Resolves once it is durably stored, even as a rejected one; rejects if that is unknown in time, and the
 * rail sends it again. A `failed` one is stored, and must also be sent again.
 */
export type Receive = (request: CallbackRequest) => Promise<Result<ReceptionOutcome, CallbackRefusal>>;

/** The ingress's use cases: stores callbacks durably and publishes each once. */
export interface Callbacks extends OperatorActions {
  /** Takes the callbacks of a rail and kind; undefined if there is no such rail, or it has none of this kind. */
  readonly receiverOf: (rail: string, kind: PaymentKind) => Receive | undefined;
}

interface Deps {
  readonly store: Pick<CallbackStore, 'load' | 'find' | 'save' | 'insertRejected'>;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'acceptsWork'>;
  readonly rail: (name: string) => CallbackRail | undefined;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** After how long without an answer a redelivery is published again. */
  readonly repassAfterMs: number;
  /** How long storing may take, and how long a repetition waits for the work on the same callback. */
  readonly storeTimeoutMs: number;
  /** Counts a callback that is refused, or that nothing vouches for, against its rail's rate; false if that is exceeded. */
  readonly isWithinRate: (rail: string) => boolean;
  /** Whether callbacks that neither a signature nor a listed address vouches for may still be stored. */
  readonly hasRoom: () => boolean;
}

/** How many whose proof fails beyond their rail's rate wait for their answer, and how long. */
const BRAKE = { waitingMax: 256, waitMs: 1_000 } as const;

/** The limits of each of the two writers; a group commit refuses more than 10,000 items. */
const HELD_MAX = { itemsMax: 5_000, bytesMax: 32 * 1024 * 1024 } as const;

/** Builds {@link Callbacks}. */
export function createCallbacks(deps: Deps): Callbacks {
  const { clock, logger } = deps;
  const log = createThrottledLog(logger, clock);
  const slowDown = createBrake(clock);
  const submit = openSubmitting(deps, log);
  const reject = async (request: CheckedRequest, reason: RejectionReason, keys: readonly string[]) => {
    const kept = await deps.store.insertRejected(request, reason, keys);
    if (!kept.ok) log('warn', 'rejected callbacks were not kept: too much is rejected at once');
    return kept.ok ? refuse(reason) : kept;
  };
  /** Our own bounds on what strangers could bring without end: the rate holds for what is refused too, which is kept. */
  const limited = (
    { rail, verdict }: Pick<CheckedRequest, 'rail' | 'verdict'>,
    refusal: RejectionReason | undefined,
  ): CallbackRefusal | undefined => {
    if (refusal === undefined && isAuthenticated(verdict)) return undefined;
    if (!deps.isWithinRate(rail)) {
      log('warn', 'unauthenticated callbacks were not taken: too many a second');
      return 'rate_exceeded';
    }
    if (refusal !== undefined || deps.hasRoom()) return undefined;
    log('warn', 'unauthenticated callbacks were not taken: too many of them are stored');
    return 'no_room';
  };
  const take = async (request: CheckedRequest, messageId: string | null, readCallback: ReadCallback) => {
    const reading = readClaim(readCallback, request);
    if (reading.kind === 'rejected') {
      const keys = callbackKeys({ ...request, messageId });
      return reject(request, reading.reason, [keys.key, keys.otherKey]);
    }
    const read = reading.kind === 'read';
    const kept = read ? keptOf(request) : request;
    const callback = { ...kept, messageId, claim: read ? reading.claim : null };
    const traceparent = continueTrace(currentTraceparent(headerOf(request, 'traceparent')), deps.ids);
    const submitted = await submit(callback, traceparent);
    const about = { rail: callback.rail, kind: callback.kind, digest: callback.digest };
    if (reading.kind === 'broken')
      logger.error({ ...about, broken: stackLineOf(reading.error) }, 'reading a callback broke');
    if (submitted.ok && submitted.value === 'id_reused')
      logger.warn({ ...about, messageId }, 'a callback came with the id of another one');
    return submitted;
  };
  const receiverOf = (name: string, kind: PaymentKind): Receive | undefined => {
    const rail = deps.rail(name);
    const part = partOf(rail, kind);
    if (!rail || !part) return undefined;
    return async (arrived) => {
      const { messageId, ...verdict } = rail.verifyCallback(arrived);
      const refusal = refusalOf(verdict);
      // Strangers come by the thousand a second: what is not taken costs no more than it must.
      const limit = limited({ rail: name, verdict }, refusal);
      if (limit !== undefined && refusal !== undefined) await slowDown();
      if (limit !== undefined) return refuse(limit);
      const id = deps.ids.next('cb');
      const digest = hash('sha256', arrived.body, 'hex');
      const request = { ...arrived, id, digest, verdict, headers: keptHeaders(arrived.headers) };
      const { readCallback } = part;
      const taken = refusal ? reject(request, refusal, []) : take(request, messageId, readCallback);
      // If it is stored all the same, its next delivery counts as a repetition.
      return withDeadline(taken, deps.storeTimeoutMs, clock);
    };
  };
  return { receiverOf, ...createOperatorActions(deps) };
}

/** Opens the function that brings callbacks to their writer. */
function openSubmitting(deps: Deps, log: (level: 'warn', message: string) => void) {
  const openReception = () =>
    serialiseByKey(openCallbackWriter<ReceptionOutcome>(deps), {
      ...HELD_MAX,
      waitMsMax: deps.storeTimeoutMs,
    });
  // Strangers can fill one writer; callbacks with a valid signature or address use the other.
  const writers = { vouched: openReception(), others: openReception() };
  return async (callback: Callback, traceparent: string) => {
    // Rails send it again; the log line is limited to one in a while.
    if (!deps.messaging.acceptsWork()) return refuse<CallbackRefusal>('overloaded');
    const writer = isAuthenticated(callback.verdict) ? writers.vouched : writers.others;
    const submitted = await writer(arrival(callback, traceparent, deps.repassAfterMs));
    if (!submitted.ok) log('warn', 'callbacks were not taken: too much is waiting');
    return submitted;
  };
}

function arrival(
  callback: Callback,
  traceparent: string,
  repassAfterMs: number,
): WriteRequest<ReceptionOutcome> {
  const { rail, kind, digest, verdict } = callback;
  return {
    ...callbackKeys(callback),
    decide: (remembered) => receive(remembered, callback, repassAfterMs),
    report: { rail, kind, digest, proven: verdict.proven, traceparent },
    callback,
    bytes: callback.body.byteLength,
  };
}

/**
 * Builds the function that lets senders of forged callbacks wait: who keeps connections open for a flood can't send the next on
 * them meanwhile. Beyond a number nobody waits, so that no flood holds more of our connections than that.
 */
function createBrake(clock: Pick<Clock, 'sleep'>): () => Promise<void> {
  let waiting = 0;
  return async () => {
    if (waiting >= BRAKE.waitingMax) return;
    waiting += 1;
    await clock.sleep(BRAKE.waitMs);
    waiting -= 1;
  };
}

/** Builds the function that counts each rail's callbacks against a number per second; false if the rate is exceeded. */
export function createRates(options: {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly rails: readonly { readonly name: string }[];
  readonly perSecondMax: number;
}): (rail: string) => boolean {
  const { clock, perSecondMax } = options;
  const buckets = new Map<string, TokenBucket>(
    options.rails.map(({ name }) => [name, createTokenBucket({ clock, perSecondMax, waitMsMax: 0 })]),
  );
  return (rail) => buckets.get(rail)?.take().granted ?? false;
}
