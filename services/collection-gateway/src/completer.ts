import type { CollectionRefusal } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import { CLOCK_SKEW_MAX_MS, type Messaging } from '@pesewa/messaging';
import { CALL_WITHIN_MS, type CompletionResult, mayStillCall, type Rail } from '@pesewa/rails';
import { type CrashPoint, inTraceOf, type Logger } from '@pesewa/runtime';
import { digestOfNumber } from './admission.ts';
import type { AnswerDeadline } from './answer-deadline.ts';
import type { Applied, CausedCommand, Collections } from './collections.ts';
import { type CompletionLock, type LockRequest, takeCompletionLock } from './completion-lock.ts';
import { type CollectionForm, isSameContent } from './domain/initiation.ts';
import { type NumberLimit, numberLimit } from './domain/limits.ts';
import { cleanReason, completionOutcome, isRequestRefused, merchantReason } from './domain/reasons.ts';
import type { CollectionStateRefusal } from './domain/state.ts';
import { outgoingCollection } from './initiator.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { Collection } from './store.ts';

/** A refused completion, with a reason of the contract or of the rail, in capitals. */
export interface CompletionRefusal {
  readonly reason: CollectionRefusal | (string & {});
  /** Our reference; empty where there is no such collection. */
  readonly reference: string;
  readonly description?: string;
  /** The seconds after which to retry, if it was one too many for its customer's number. */
  readonly retryAfterSeconds?: number;
}

/**
 * Passes the completion of a collection on to its rail (contract 4.8), one at a time over all replicas.
 *
 * The try is counted and committed with a lease before the call; the OTP is never stored, logged or published.
 */
export type CompleteCollection = (
  merchant: Merchant,
  form: CollectionForm,
  otpCode: string | undefined,
) => Promise<Result<Collection, CompletionRefusal>>;

/** Completes collections; disposing of it ends the waiting for locks, and begins no further call. */
export interface Completer extends AsyncDisposable {
  readonly complete: CompleteCollection;
}

interface CompleterDeps {
  readonly collections: Pick<Collections, 'find' | 'apply' | 'recordOutcome'>;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'acceptsWork'>;
  readonly rail: (name: string) => Rail | undefined;
  readonly answerDeadline: Pick<AnswerDeadline, 'within' | 'deadlineMs'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
  readonly metrics: Pick<GatewayMetrics, 'completion'>;
  /** How many OTPs of one customer's number are passed on within an hour, over all merchants. */
  readonly otpTriesPerNumberPerHour: number;
  /** The same for one merchant. */
  readonly merchantOtpTriesPerNumberPerHour: number;
}

/**
 * A lease lasts longer than its call by how late the call may begin, and by how far the clocks of two replicas may
 * differ, each from the database's.
 */
const LEASE_MARGIN_MS = CALL_WITHIN_MS + 2 * CLOCK_SKEW_MAX_MS;

/** Builds a {@link Completer}. */
export function createCompleter(deps: CompleterDeps): Completer {
  const { collections, clock, metrics, answerDeadline } = deps;
  const intents = deps.messaging.groupCommit<CausedCommand, Applied | undefined>(
    'collections.complete',
    collections.apply,
    // Collections of one number are counted together, so they conflict with one another, and with no others.
    { ownerOf: ({ limits = [], reference }) => limits.at(-1)?.id ?? reference },
  );
  const closer = new AbortController();
  const closing = closer.signal;
  const waiting = new Set<Promise<unknown>>();
  const waitForLock = async (request: LockRequest): Promise<CompletionLock> => {
    const lock = takeCompletionLock({ intents, collections, answerDeadline, clock, closing }, request);
    waiting.add(lock);
    return lock.finally(() => waiting.delete(lock));
  };
  const complete: CompleteCollection = async (merchant, form, otpCode) => {
    const deadlineAtMs = clock.nowMs() + answerDeadline.deadlineMs;
    const { merchantReference } = form.content;
    const found = await collections.find(merchant.id, merchantReference);
    if (found?.order.merchantReference !== merchantReference)
      return refuse({ reason: 'UNKNOWN REFERENCE', reference: '' });
    const { reference, order } = found;
    const counted = (outcome: string) => metrics.completion(order.operatorCode, outcome);
    if (!isSameContent(form, order)) {
      counted('REQUEST MISMATCH');
      return refuse({ reason: 'REQUEST MISMATCH', reference });
    }
    if (!deps.messaging.acceptsWork()) {
      counted('SERVICE UNAVAILABLE');
      return refuse({ reason: 'SERVICE UNAVAILABLE', reference, description: NOT_PASSED_ON });
    }
    const limits = limitsOf(deps, merchant, found);
    const leaseMs = (deps.rail(found.rail)?.capabilities.callDeadlineMs ?? 0) + LEASE_MARGIN_MS;
    const lock = await waitForLock({ collection: found, limits, leaseMs, deadlineAtMs });
    const { applied, requestedAtMs } = lock;
    if (!applied || applied.refusal !== null) {
      const answer = await answerWithoutLock(deps, lock, { reference, limit: limits[0] });
      counted(answer.ok ? 'repeated' : answer.refusal.reason);
      return answer;
    }
    const call = callRail(deps, { collection: applied.collection, otpCode, limits, requestedAtMs, closing });
    const result = await answerDeadline.within(call, deadlineAtMs - clock.nowMs());
    const answer = answerOf(result, applied.collection);
    counted(outcomeOf(result, answer));
    return answer;
  };
  return {
    complete,
    [Symbol.asyncDispose]: async () => {
      closer.abort();
      await Promise.allSettled(waiting);
    },
  };
}

/** OTPs can be guessed, so tries are counted by number: first the merchant's own, then those of all merchants. */
function limitsOf(
  { clock, ...deps }: CompleterDeps,
  { id }: Merchant,
  { order }: Collection,
): readonly NumberLimit[] {
  if (order.flow.kind !== 'otp') return [];
  const counted = { numberDigest: digestOfNumber(order), nowMs: clock.nowMs() };
  return [
    numberLimit({ ...counted, scope: `otp:${id}`, max: deps.merchantOtpTriesPerNumberPerHour }),
    numberLimit({ ...counted, scope: 'otp', max: deps.otpTriesPerNumberPerHour }),
  ].filter((limit) => limit !== undefined);
}

const refusals: Readonly<Partial<Record<CollectionStateRefusal, CollectionRefusal>>> = {
  'collection.closed': 'COLLECTION CLOSED',
  'collection.completion_not_required': 'COMPLETION NOT REQUIRED',
  'collection.completions_exceeded': 'COMPLETION NOT REQUIRED',
  'collection.otp_expired': 'OTP EXPIRED',
  'collection.otp_attempts_exceeded': 'OTP ATTEMPTS EXCEEDED',
};

/** The refusals after which the rail is asked, because nothing more is passed on to it. */
const closingRefusals: ReadonlySet<CollectionStateRefusal> = new Set([
  'collection.completions_exceeded',
  'collection.otp_expired',
  'collection.otp_attempts_exceeded',
]);

const NOT_PASSED_ON = 'the completion was not passed on: send it again';

/** The descriptions of refusals. */
const descriptions: Readonly<Partial<Record<CollectionStateRefusal, string>>> = {
  'collection.completion_under_way':
    'another completion is under way, and this one was not passed on: send it again',
  'collection.completions_exceeded': 'it was passed on ten times: wait for the webhook',
};

/** The answer to a completion that did not get the lock: the same as for an earlier one that the rail acknowledged, or why not. */
async function answerWithoutLock(
  deps: CompleterDeps,
  { applied, waited }: CompletionLock,
  { reference, limit }: { readonly reference: string; readonly limit: NumberLimit | undefined },
): Promise<Result<Collection, CompletionRefusal>> {
  const refusal = applied?.refusal ?? undefined;
  if (!applied || !refusal)
    return refuse({ reason: 'SERVICE UNAVAILABLE', reference, description: NOT_PASSED_ON });
  const { collection } = applied;
  // The rail has acknowledged an earlier one; a repetition changes nothing and gets the same answer.
  if (refusal === 'collection.completing') return accept(collection);
  if (refusal === 'collection.closed' && waited && collection.status === 'COMPLETED')
    return accept(collection);
  if (closingRefusals.has(refusal)) await close(deps, collection);
  if (refusal === 'collection.number_limit' && limit) {
    const { retryAfterSeconds } = limit;
    const description = `too many OTPs for this customerNumber: send it again after ${retryAfterSeconds} s`;
    return refuse({ reason: 'TOO MANY REQUESTS', reference, description, retryAfterSeconds });
  }
  const reason = refusals[refusal];
  const description = descriptions[refusal] ?? (reason === undefined ? NOT_PASSED_ON : undefined);
  return refuse({
    reason: reason ?? 'SERVICE UNAVAILABLE',
    reference,
    ...(description !== undefined && { description }),
  });
}

/**
 * Has the rail asked for the status, once: its answer ends the collection, and no timer or counter of ours does
 * (invariant P11).
 */
async function close(deps: CompleterDeps, { reference, completionClosed }: Collection): Promise<void> {
  if (completionClosed) return;
  try {
    await deps.collections.recordOutcome({
      reference,
      causationId: null,
      command: { kind: 'closeCompletion' },
    });
  } catch (error) {
    deps.logger.warn({ err: error, reference }, 'it is not recorded yet that no further OTP is passed on');
  }
}

/** A completion that has the lock. */
interface Attempt {
  readonly collection: Collection;
  readonly otpCode: string | undefined;
  /** The limits that counted the try. */
  readonly limits: readonly NumberLimit[];
  readonly requestedAtMs: number;
  readonly closing: AbortSignal;
}

async function callRail(deps: CompleterDeps, attempt: Attempt): Promise<CompletionResult> {
  const { reference, rail: railName } = attempt.collection;
  deps.crashPoint('collections.complete.before-call');
  const result = await askRail(deps, attempt, deps.clock.nowMs());
  deps.crashPoint('collections.complete.after-call');
  const logged = { reference, rail: railName, result: result.kind };
  if (result.kind === 'unknown' || result.kind === 'notSent')
    deps.logger.warn({ ...logged, why: result.why }, 'no clear answer from the rail');
  if (result.kind === 'refused' && isRequestRefused(result.reason))
    deps.logger.warn({ ...logged, reason: result.reason }, 'the rail refuses our request itself');
  // An unclear outcome is not recorded: the rail may still be processing it, so the next completion gets the lock
  // only when the lease is over.
  if (result.kind !== 'unknown') await record(deps, attempt, result);
  return result;
}

async function askRail(
  deps: Pick<CompleterDeps, 'rail'>,
  { collection, otpCode, requestedAtMs, closing }: Attempt,
  nowMs: number,
): Promise<CompletionResult> {
  const notSent = (why: string) => ({ kind: 'notSent', why, retryAfterMs: 0 }) as const;
  const collections = deps.rail(collection.rail)?.collections;
  if (!collections) return notSent('the rail is not configured');
  if (closing.aborted) return notSent('we close');
  if (!mayStillCall(requestedAtMs, nowMs)) return notSent('the request is too old');
  const order = { ...outgoingCollection(collection), otpCode };
  const completing = inTraceOf(collection.traceparent, () => collections.complete(order));
  return reviewed(await completing, otpCode);
}

/** Commits an outcome. If that fails, the answer is the same, and the lock is free when the lease is over. */
async function record(
  { collections, logger }: CompleterDeps,
  { collection: { reference, version: token }, limits }: Attempt,
  result: Exclude<CompletionResult, { readonly kind: 'unknown' }>,
): Promise<void> {
  const outcome = result.kind === 'refused' ? completionOutcome(result.reason) : result.kind;
  const command = { kind: 'recordCompletion', token, outcome } as const;
  try {
    await collections.recordOutcome({ reference, causationId: null, command, counted: limits });
  } catch (error) {
    logger.error({ err: error, reference, outcome }, 'the outcome of a completion is not recorded');
  }
}

/**
 * A refusal as one clean line, without the OTP. A rail that doesn't know the collection has not checked the OTP, so
 * that counts as not sent.
 */
function reviewed(result: CompletionResult, otpCode: string | undefined): CompletionResult {
  if (result.kind !== 'refused') return result;
  const reason = cleanReason(
    otpCode === undefined ? result.reason : result.reason.replaceAll(otpCode, '***'),
  );
  if (reason === 'UNKNOWN REFERENCE')
    return { kind: 'notSent', why: 'the rail does not know the collection', retryAfterMs: 0 };
  return { kind: 'refused', reason };
}

/** After an unclear answer the collection is still pending: the rail's own status ends it (invariant P4). */
function answerOf(
  result: CompletionResult | undefined,
  collection: Collection,
): Result<Collection, CompletionRefusal> {
  const { reference } = collection;
  if (result?.kind === 'notSent')
    return refuse({ reason: 'SERVICE UNAVAILABLE', reference, description: NOT_PASSED_ON });
  // If the rail has closed a collection that is open here, its status check will show how.
  if (result?.kind !== 'refused' || completionOutcome(result.reason) === 'closed') return accept(collection);
  return refuse({ reason: merchantReason(result.reason), reference });
}

function outcomeOf(
  result: CompletionResult | undefined,
  answer: Result<Collection, CompletionRefusal>,
): string {
  if (result?.kind === 'notSent') return 'not sent';
  if (!answer.ok) return answer.refusal.reason;
  if (result?.kind === 'refused') return result.reason;
  return result?.kind === 'acknowledged' ? 'acknowledged' : 'unclear';
}
