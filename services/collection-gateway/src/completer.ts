import type { CollectionRefusal } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import { type CompletionResult, mayStillCall, type RailConnector } from '@pesewa/rails';
import type { CrashPoint, Logger } from '@pesewa/runtime';
import type { Applied, CollectionOrderCommand, Collections } from './collections.ts';
import { type CollectionForm, isSameContent } from './domain/initiation.ts';
import { type NumberLimit, numberLimit } from './domain/limits.ts';
import type { CollectionStateRefusal, CompletionOutcome } from './domain/state.ts';
import { railOrder } from './initiator.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { Patience } from './patience.ts';
import type { Collection } from './store.ts';
import { type Turn, takeTurn } from './turn.ts';
import { digestOfNumber } from './usage.ts';

/** A refused completion; the reason is the contract's or the rail's own, in capitals. */
export interface CompletionRefusal {
  readonly reason: CollectionRefusal | (string & {});
  /** Our reference; empty where there is no such collection. */
  readonly reference: string;
  readonly description?: string;
  /** When it may be sent again, where it was one too many for its customer's number. */
  readonly retryAfterSeconds?: number;
}

/**
 * Passes the completion of a collection on to its rail (contract 4.8), one at a time over all replicas.
 *
 * The try is counted and committed with a lease before the call; the OTP is never stored, logged or published.
 */
export type Complete = (
  merchant: Merchant,
  form: CollectionForm,
  otpCode: string | undefined,
) => Promise<Result<Collection, CompletionRefusal>>;

interface CompleterDeps {
  readonly collections: Pick<Collections, 'find' | 'apply' | 'recordOutcome'>;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly rail: (name: string) => RailConnector | undefined;
  readonly patience: Pick<Patience, 'within' | 'deadlineMs'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
  readonly metrics: Pick<GatewayMetrics, 'completion' | 'called'>;
  /** How many OTPs of one customer's number are passed on within an hour, of all merchants together. */
  readonly otpTriesPerNumberPerHour: number;
}

/** A lease outlasts its call by what the call may begin late, and by what the clocks of two replicas may differ. */
const LEASE_MARGIN_MS = 7_000;

/** Builds {@link Complete}. */
export function createComplete(deps: CompleterDeps): Complete {
  const { collections, clock, metrics } = deps;
  const intents = deps.messaging.groupCommit<CollectionOrderCommand, Applied | undefined>(
    'collections.complete',
    collections.apply,
    // A number's collections are counted together, so they are in each other's way, and in nobody else's.
    { ownerOf: ({ limits = [], reference }) => limits[0]?.id ?? reference },
  );
  return async (merchant, form, otpCode) => {
    const deadlineAtMs = clock.nowMs() + deps.patience.deadlineMs;
    const { merchantReference } = form.content;
    const found = await collections.find(merchant.id, merchantReference);
    if (found?.order.merchantReference !== merchantReference) {
      return refuse({ reason: 'UNKNOWN REFERENCE', reference: '' });
    }
    const { reference, order } = found;
    const counted = (outcome: string) => metrics.completion(order.operatorCode, outcome);
    if (!isSameContent(form, order)) {
      counted('REQUEST MISMATCH');
      return refuse({ reason: 'REQUEST MISMATCH', reference });
    }
    const limits = limitsOf(deps, found);
    const leaseMs = (deps.rail(found.rail)?.capabilities.callDeadlineMs ?? 0) + LEASE_MARGIN_MS;
    const turn = await takeTurn(
      { intents, collections, clock },
      { collection: found, limits, leaseMs, deadlineAtMs },
    );
    const { applied } = turn;
    if (!applied || applied.refusal !== null) {
      const answer = await refusedTurn(deps, turn, { reference, limit: limits[0] });
      counted(answer.ok ? 'repeated' : answer.refusal.reason);
      return answer;
    }
    const call = callRail(deps, applied.collection, otpCode, turn.requestedAtMs);
    const result = await deps.patience.within(call, deadlineAtMs - clock.nowMs());
    const answer = answerOf(result, applied.collection);
    counted(outcomeOf(result, answer));
    return answer;
  };
}

/** OTPs can be guessed, so they are counted by number; a completion without one can't. */
function limitsOf(
  { clock, otpTriesPerNumberPerHour }: CompleterDeps,
  { order }: Collection,
): readonly NumberLimit[] {
  if (order.flow.kind !== 'otp') return [];
  const counted = { scope: 'otp', numberDigest: digestOfNumber(order), max: otpTriesPerNumberPerHour };
  const limit = numberLimit({ ...counted, nowMs: clock.nowMs() });
  return limit ? [limit] : [];
}

const refusals: Readonly<Partial<Record<CollectionStateRefusal, CollectionRefusal>>> = {
  'collection.closed': 'COLLECTION CLOSED',
  'collection.completion_not_required': 'COMPLETION NOT REQUIRED',
  'collection.otp_expired': 'OTP EXPIRED',
  'collection.otp_attempts_exceeded': 'OTP ATTEMPTS EXCEEDED',
  'collection.number_limit': 'TOO MANY REQUESTS',
};

/** What a completion is answered that has no turn: the same as an earlier one that the rail accepted, or why not. */
async function refusedTurn(
  deps: CompleterDeps,
  { applied, waited }: Turn,
  { reference, limit }: { readonly reference: string; readonly limit: NumberLimit | undefined },
): Promise<Result<Collection, CompletionRefusal>> {
  const refusal = applied?.refusal ?? undefined;
  if (!applied || !refusal) return refuse({ reason: 'SERVICE UNAVAILABLE', reference });
  const { collection } = applied;
  // The rail has accepted an earlier one: a repeat changes nothing and gets the same answer.
  if (refusal === 'collection.completing') return accept(collection);
  if (refusal === 'collection.closed' && waited && collection.status === 'COMPLETED')
    return accept(collection);
  if (refusal === 'collection.otp_expired' || refusal === 'collection.otp_attempts_exceeded') {
    await close(deps, collection);
  }
  if (refusal === 'collection.completion_under_way') {
    const description = 'another completion is under way, and this one was not passed on: send it again';
    return refuse({ reason: 'SERVICE UNAVAILABLE', reference, description });
  }
  const reason = refusals[refusal] ?? 'SERVICE UNAVAILABLE';
  if (refusal !== 'collection.number_limit' || !limit) return refuse({ reason, reference });
  const { retryAfterSeconds } = limit;
  const description = `too many OTPs for this customerNumber: send it again after ${retryAfterSeconds} s`;
  return refuse({ reason, reference, description, retryAfterSeconds });
}

/** Lets the rail be asked, once: its answer ends the collection, no timer and no counter of ours (design 4.4). */
async function close(deps: CompleterDeps, { reference, completionClosed }: Collection): Promise<void> {
  if (completionClosed) return;
  try {
    await deps.collections.recordOutcome({
      reference,
      causationId: null,
      command: { kind: 'closeCompletion' },
    });
  } catch (error) {
    deps.logger.warn({ err: error, reference }, 'that no OTP is passed on any more is not told yet');
  }
}

async function callRail(
  deps: CompleterDeps,
  collection: Collection,
  otpCode: string | undefined,
  requestedAtMs: number,
): Promise<CompletionResult> {
  const { reference, rail: railName, version: turn } = collection;
  const rail = deps.rail(railName);
  deps.crashPoint('collections.complete.before-call');
  const startedAtMs = deps.clock.nowMs();
  const result: CompletionResult = !rail
    ? { kind: 'notSent', why: 'the rail is not configured', retryAfterMs: 0 }
    : !mayStillCall(requestedAtMs, startedAtMs)
      ? { kind: 'notSent', why: 'the request is too old', retryAfterMs: 0 }
      : reviewed(await rail.completeCollection({ ...railOrder(collection), otpCode }), otpCode);
  deps.crashPoint('collections.complete.after-call');
  const durationMs = deps.clock.nowMs() - startedAtMs;
  deps.metrics.called('complete', { rail: railName, result: result.kind, durationMs });
  if (result.kind === 'unknown' || result.kind === 'notSent') {
    deps.logger.warn(
      { reference, rail: railName, result: result.kind, why: result.why },
      'no clear answer from the rail',
    );
  }
  // What is unclear is not recorded: the rail may still be at it, so nobody else's turn comes before the lease is over.
  if (result.kind !== 'unknown') await record(deps, { reference, turn, outcome: result.kind });
  return result;
}

/** Commits an outcome; without that the answer is the same, and the next turn comes when the lease is over. */
async function record(
  { collections, logger }: CompleterDeps,
  { reference, turn, outcome }: { reference: string; turn: bigint; outcome: CompletionOutcome },
): Promise<void> {
  const command = { kind: 'recordCompletion', turn, outcome } as const;
  try {
    await collections.recordOutcome({ reference, causationId: null, command });
  } catch (error) {
    logger.error({ err: error, reference, outcome }, 'the outcome of a completion is not recorded');
  }
}

/**
 * A refusal as it may be told: a rail that doesn't know the collection has looked at no OTP, so it counts as not sent;
 * and no OTP is repeated to anyone.
 */
function reviewed(result: CompletionResult, otpCode: string | undefined): CompletionResult {
  if (result.kind !== 'refused') return result;
  const reason = result.reason.toUpperCase();
  if (reason === 'UNKNOWN REFERENCE')
    return { kind: 'notSent', why: 'the rail does not know the collection', retryAfterMs: 0 };
  return { kind: 'refused', reason: otpCode === undefined ? reason : reason.replaceAll(otpCode, '***') };
}

/** An unclear answer is still pending: the rail's own word ends the collection, not ours (design 4.3). */
function answerOf(
  result: CompletionResult | undefined,
  collection: Collection,
): Result<Collection, CompletionRefusal> {
  const { reference } = collection;
  if (result?.kind === 'refused') return refuse({ reason: result.reason, reference });
  if (result?.kind !== 'notSent') return accept(collection);
  const description = 'the completion was not passed on: send it again';
  return refuse({ reason: 'SERVICE UNAVAILABLE', reference, description });
}

function outcomeOf(
  result: CompletionResult | undefined,
  answer: Result<Collection, CompletionRefusal>,
): string {
  if (result?.kind === 'notSent') return 'not sent';
  if (!answer.ok) return answer.refusal.reason;
  return result?.kind === 'accepted' ? 'accepted' : 'unclear';
}
