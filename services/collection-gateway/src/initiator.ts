import { type Clock, type Ids, unreachable } from '@pesewa/kernel';
import { type Loop, startClaimLoop } from '@pesewa/messaging';
import { attemptUpdate, type IsPaused, type OutcomeRecorder, PAUSED_RETRY_MS } from '@pesewa/payments';
import {
  CALL_TIMEOUT_MS,
  type InitiationResult,
  mayStillCall,
  type OutgoingCollection,
  type Rail,
} from '@pesewa/rails';
import { type CrashPoint, type Endable, inTraceOf, type Logger } from '@pesewa/runtime';
import type { Collections } from './collections.ts';
import { cleanReason, isRequestRefused } from './domain/reasons.ts';
import type { InitiationOutcome } from './domain/state.ts';
import { type Collection, type CollectionStore, fromDocument } from './store.ts';

const LEASE_MS = 45_000;
const UNCONFIGURED_RETRY_MS = 30_000;
const LATE_RETRY_MS = 1_000;

/** The result of an initiation: the collection in its present state, and the payment link if the rail gave one. */
export interface Initiated {
  readonly collection: Collection;
  readonly redirectionUrl: string;
}

/**
 * Asks a rail to initiate a collection whose attempt is committed, and commits the outcome.
 *
 * `attemptedAtMs` is from right before that commit, by this process's own clock. By default it is the record's time,
 * which is right for the process that accepted the collection.
 */
export type InitiateCollection = (collection: Collection, attemptedAtMs?: number) => Promise<Initiated>;

interface InitiatorDeps {
  readonly collections: Pick<Collections, 'recordOutcome'>;
  readonly recorder: OutcomeRecorder;
  readonly rail: (name: string) => Rail | undefined;
  readonly isPaused: IsPaused;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
}

/** Builds {@link InitiateCollection}, which runs outside any transaction (ADR 5). */
export function createInitiate(deps: InitiatorDeps): InitiateCollection {
  const { collections, recorder, logger, crashPoint } = deps;
  return async (collection, attemptedAtMs = collection.attemptedAtMs) => {
    const { reference, attempts, rail: railName } = collection;
    crashPoint('collections.initiate.before-call');
    const result = await callRail(deps, collection, attemptedAtMs);
    crashPoint('collections.initiate.after-call');
    if (result.kind === 'unknown' || result.kind === 'notSent') {
      logger.warn(
        { reference, rail: railName, result: result.kind, why: result.why },
        'no clear answer from the rail',
      );
    }
    if (result.kind === 'failed' && isRequestRefused(cleanReason(result.reason))) {
      logger.warn(
        { reference, rail: railName, reason: result.reason },
        'the rail refuses our request itself',
      );
    }
    const outcome = outcomeOf(result, deps.clock.nowMs());
    const command = { kind: 'recordInitiation', attempt: attempts, outcome } as const;
    const applied = await recorder.record(
      () => collections.recordOutcome({ reference, causationId: null, command }),
      { reference, attempt: attempts, outcome: outcome.kind },
    );
    return {
      collection: applied?.collection ?? collection,
      redirectionUrl: result.kind === 'acknowledged' ? result.redirectionUrl : '',
    };
  };
}

/** Asks the rail to initiate, unless there is no such rail or the claim is too old to act on. */
async function callRail(
  deps: Pick<InitiatorDeps, 'rail' | 'isPaused' | 'clock'>,
  collection: Collection,
  attemptedAtMs: number,
): Promise<InitiationResult> {
  const collections = deps.rail(collection.rail)?.collections;
  if (!collections)
    return { kind: 'notSent', why: 'the rail is not configured', retryAfterMs: UNCONFIGURED_RETRY_MS };
  if (deps.isPaused(collection))
    return { kind: 'notSent', why: 'collections are paused', retryAfterMs: PAUSED_RETRY_MS };
  if (!mayStillCall(attemptedAtMs, deps.clock.nowMs()))
    return { kind: 'notSent', why: 'the claim is too old', retryAfterMs: LATE_RETRY_MS };
  return inTraceOf(collection.traceparent, () => collections.initiate(outgoingCollection(collection)));
}

/**
 * Initiates queued collections again with the same reference: those that were certainly not sent, or not found.
 *
 * The claim commits the attempt before the call. A crash in between leaves the collection `initiating`, which is never
 * claimed again: the reconciler's status check finds out what happened (ADR 5). A collection that has waited
 * longer than `initiateForMs` is claimed only to be abandoned: the customer would not expect a prompt hours after the
 * order. Disposing of it also ends the retries of outcomes that can't be recorded.
 */
export function startInitiator(
  deps: InitiatorDeps & {
    readonly store: Pick<CollectionStore, 'collection'>;
    readonly initiate: InitiateCollection;
    readonly ids: Ids;
    readonly initiateForMs: number;
    readonly concurrencyMax: number;
    readonly pauseMs: number;
  },
): Loop & Endable {
  const loop = startClaimLoop({
    name: 'collection initiator',
    collection: deps.store.collection,
    open: { step: 'queued' },
    alsoSet: claimMark(deps.initiateForMs),
    leaseMs: LEASE_MS,
    workTimeoutMs: CALL_TIMEOUT_MS,
    batchMax: 100,
    concurrencyMax: deps.concurrencyMax,
    pauseMs: deps.pauseMs,
    clock: deps.clock,
    ids: deps.ids,
    logger: deps.logger,
    work: async (document, _claim, claimedAtMs) => {
      const collection = fromDocument(document);
      if (collection.step === 'initiating') await deps.initiate(collection, claimedAtMs);
      else deps.logger.warn({ reference: collection.reference }, 'a collection waited too long to be sent');
    },
  });
  return {
    wake: loop.wake,
    endsWithinMs: CALL_TIMEOUT_MS,
    [Symbol.asyncDispose]: async () => {
      deps.recorder.stop();
      await loop[Symbol.asyncDispose]();
    },
  };
}

/** The update of a claim: a new attempt, or that the collection is abandoned, by the server's clock. */
function claimMark(initiateForMs: number) {
  const isTooOld = { $lt: ['$acceptedAt', { $subtract: ['$$NOW', initiateForMs] }] };
  const unless = (kept: string, attempted: unknown) => ({ $cond: [isTooOld, kept, attempted] });
  const { step, version, attempts, attemptedAt } = attemptUpdate('initiating');
  return {
    step: unless('abandoned', step),
    version,
    attempts: unless('$attempts', attempts),
    attemptedAt: unless('$attemptedAt', attemptedAt),
  };
}

function outcomeOf(result: InitiationResult, nowMs: number): InitiationOutcome {
  switch (result.kind) {
    case 'notSent':
      return { kind: 'notSent', retryAtMs: nowMs + result.retryAfterMs };
    case 'failed':
      return { kind: 'failed', reason: result.reason };
    case 'acknowledged':
    case 'unknown':
      return { kind: result.kind };
    default:
      return unreachable(result);
  }
}

/** A collection as its rail gets it, at initiation and at completion. */
export function outgoingCollection({ reference, order }: Collection): OutgoingCollection {
  const { merchantReference: _theirs, flow: _flow, webhookUrl: _address, amount, ...details } = order;
  return { ...details, reference, currency: amount.currency, amount: amount.minor };
}
