import type { CollectionRefusal } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import { type CompletionResult, mayStillCall, type RailConnector } from '@pesewa/rails';
import type { CrashPoint, Logger } from '@pesewa/runtime';
import type { Applied, CollectionOrderCommand, Collections } from './collections.ts';
import type { CollectionStateRefusal } from './domain/collection.ts';
import { type CollectionForm, isSameContent } from './domain/initiation.ts';
import { railOrder } from './initiator.ts';
import type { Patience } from './patience.ts';
import type { Collection } from './store.ts';

/** A refused completion; the reason is the contract's or the rail's own, in capitals. */
export interface CompletionRefusal {
  readonly reason: CollectionRefusal | (string & {});
  /** Our reference; empty where there is no such collection. */
  readonly reference: string;
}

/**
 * Passes the completion of a collection on to its rail (contract 4.8).
 *
 * The try is counted and committed before the call, over all replicas; the OTP is never stored.
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
  readonly patience: Pick<Patience, 'within'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
}

/** Builds {@link Complete}. */
export function createComplete(deps: CompleterDeps): Complete {
  const intents = deps.messaging.groupCommit<CollectionOrderCommand, Applied | undefined>(
    'collections.complete',
    deps.collections.apply,
  );
  return async (merchant, form, otpCode) => {
    const { merchantReference } = form.content;
    const found = await deps.collections.find(merchant.id, merchantReference);
    if (found?.order.merchantReference !== merchantReference) {
      return refuse({ reason: 'UNKNOWN REFERENCE', reference: '' });
    }
    const { reference } = found;
    if (!isSameContent(form, found.order)) return refuse({ reason: 'REQUEST MISMATCH', reference });
    const command = { kind: 'requestCompletion', nowMs: deps.clock.nowMs() } as const;
    const intent = await intents.submit({ reference, causationId: null, command });
    if (!intent) return refuse({ reason: 'SERVICE UNAVAILABLE', reference });
    // The rail has accepted an earlier one: a repeat changes nothing and gets the same answer.
    if (intent.refusal === 'collection.completing') return accept(intent.collection);
    if (intent.refusal)
      return refuse({ reason: refusals[intent.refusal] ?? 'SERVICE UNAVAILABLE', reference });
    const result = await deps.patience.within(callRail(deps, intent.collection, otpCode, command.nowMs));
    return answerOf(result, intent.collection);
  };
}

const refusals: Readonly<Partial<Record<CollectionStateRefusal, CollectionRefusal>>> = {
  'collection.closed': 'COLLECTION CLOSED',
  'collection.completion_not_required': 'COMPLETION NOT REQUIRED',
  'collection.otp_expired': 'OTP EXPIRED',
  'collection.otp_attempts_exceeded': 'OTP ATTEMPTS EXCEEDED',
};

async function callRail(
  deps: CompleterDeps,
  collection: Collection,
  otpCode: string | undefined,
  requestedAtMs: number,
): Promise<CompletionResult> {
  const { reference, rail: railName } = collection;
  const rail = deps.rail(railName);
  deps.crashPoint('collections.complete.before-call');
  const result: CompletionResult = !rail
    ? { kind: 'notSent', why: 'the rail is not configured', retryAfterMs: 0 }
    : !mayStillCall(requestedAtMs, deps.clock.nowMs())
      ? { kind: 'notSent', why: 'the request is too old', retryAfterMs: 0 }
      : reviewed(await rail.completeCollection({ ...railOrder(collection), otpCode }));
  deps.crashPoint('collections.complete.after-call');
  if (result.kind === 'unknown' || result.kind === 'notSent') {
    deps.logger.warn(
      { reference, rail: railName, result: result.kind, why: result.why },
      'no clear answer from the rail',
    );
  }
  if (result.kind === 'accepted' || result.kind === 'notSent') {
    const command = { kind: 'recordCompletion', outcome: result.kind } as const;
    await deps.collections.recordOutcome({ reference, causationId: null, command });
  }
  return result;
}

/** A rail that doesn't know the collection has looked at no OTP: the completion counts as not sent. */
function reviewed(result: CompletionResult): CompletionResult {
  if (result.kind !== 'refused' || result.reason.toUpperCase() !== 'UNKNOWN REFERENCE') return result;
  return { kind: 'notSent', why: 'the rail does not know the collection', retryAfterMs: 0 };
}

/** An unclear answer is still pending: the rail's own word ends the collection, not ours (design 4.3). */
function answerOf(
  result: CompletionResult | undefined,
  collection: Collection,
): Result<Collection, CompletionRefusal> {
  if (result?.kind === 'refused') {
    return refuse({ reason: result.reason.toUpperCase(), reference: collection.reference });
  }
  if (result?.kind === 'notSent')
    return refuse({ reason: 'SERVICE UNAVAILABLE', reference: collection.reference });
  return accept(collection);
}
