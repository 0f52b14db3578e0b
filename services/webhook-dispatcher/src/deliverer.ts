import type { Directory } from '@pesewa/directory';
import { type Clock, type Ids, type Random, unreachable } from '@pesewa/kernel';
import { type ClaimLoop, startClaimLoop } from '@pesewa/messaging';
import { type CrashPoint, createBulkheads, inClientSpan, inTraceOf, type Logger } from '@pesewa/runtime';
import { DUE_KEY } from './database-schema.ts';
import type { Deliveries } from './deliveries.ts';
import type { DeliveryDocument } from './documents.ts';
import { type AttemptResult, decideNext, type NextStep } from './domain/delivery.ts';
import { type EndpointHealth, ownAddressOf } from './endpoint-health.ts';
import { addressOf, headersFor } from './outgoing.ts';
import { createPlaces } from './places.ts';
import type { Dispatch, Sender } from './sender.ts';
import type { DeliveryChange, DeliveryStore } from './store.ts';

/** The time for committing an outcome, in addition to the deadline of the attempt. */
const COMMIT_TIMEOUT_MS = 10_000;
/** A bulkhead's queue is twice as long as its concurrency, so that a delivery waits for two deadlines at most. */
const QUEUE_ROUNDS_MAX = 2;
/** How long a delivery is put back if its bulkhead is full. */
const FULL_BULKHEAD_RETRY_MS = 1_000;

/** The dependencies of the deliverer. */
export interface DelivererDeps {
  readonly store: DeliveryStore;
  readonly deliveries: Pick<Deliveries, 'recordOutcome'>;
  readonly endpoints: Pick<EndpointHealth, 'isDisabled'>;
  readonly directory: Pick<Directory, 'find'>;
  /** Called after each attempt. */
  readonly attempted: (result: AttemptResult, durationMs: number) => void;
  readonly sender: Sender;
  readonly delaysMs: readonly number[];
  readonly deadlineMs: number;
  readonly concurrencyMax: number;
  readonly concurrencyPerEndpointMax: number;
  readonly concurrencyPerMerchantMax: number;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
}

/** What the claim of a delivery leaves to decide: what to record, or nothing if it was not tried. */
type Outcome = Omit<DeliveryChange, 'delivery' | 'claim'> | undefined;

/**
 * Delivers due webhooks and those that are claimed as they are written (ADR 5), outside any transaction. After a crash
 * between the claim and the outcome, the webhook is sent when the lease has run out, with the same id and body: merchants
 * deduplicate by reference (contract 6.3).
 */
export function startDeliverer(deps: DelivererDeps): ClaimLoop<DeliveryDocument> {
  const workTimeoutMs = deps.deadlineMs * (1 + QUEUE_ROUNDS_MAX) + COMMIT_TIMEOUT_MS;
  const leaseMs = workTimeoutMs * 1.5;
  const callWithinMs = leaseMs - deps.deadlineMs - COMMIT_TIMEOUT_MS;
  const runningMax = deps.concurrencyPerEndpointMax;
  const waitingMax = runningMax * QUEUE_ROUNDS_MAX;
  const bulkheads = createBulkheads({ runningMax, waitingMax });
  const limits = {
    perEndpointMax: runningMax,
    waitingPerEndpointMax: waitingMax,
    perMerchantMax: deps.concurrencyPerMerchantMax,
    failingMax: Math.ceil(deps.concurrencyMax / 2),
  };
  const places = createPlaces(limits, () => loop.wake());
  const inPlace = async (bulkhead: string, work: () => Promise<Outcome>): Promise<Outcome> => {
    const free = places.take(bulkhead);
    if (!free) return undefined;
    try {
      return await bulkheads.run(bulkhead, work);
    } finally {
      free();
    }
  };
  const loop = startClaimLoop({
    name: 'webhook deliverer',
    collection: deps.store.collection,
    open: { state: 'pending' },
    priority: { field: 'bulkhead', roomOf: places.freeOf, choose: places.choose, index: DUE_KEY },
    leaseMs,
    workTimeoutMs,
    batchMax: 32,
    concurrencyMax: deps.concurrencyMax,
    pauseMs: deps.pauseMs,
    clock: deps.clock,
    ids: deps.ids,
    logger: deps.logger,
    work: async (delivery, claim, claimedAtMs) => {
      // If the clock was set back since, an old claim looks as if it were yet to come.
      const mayCall = (nowMs: number) => claimedAtMs <= nowMs && nowMs <= claimedAtMs + callWithinMs;
      const outcome = await inPlace(delivery.bulkhead, () => attempt(deps, delivery, mayCall));
      if (outcome?.attempt) places.attempted(delivery.bulkhead, outcome.state === 'delivered');
      if (!outcome)
        await deps.store.postpone(delivery._id, claim, deps.clock.nowMs() + FULL_BULKHEAD_RETRY_MS);
      else if (!(await deps.deliveries.recordOutcome({ ...outcome, delivery, claim })))
        deps.logger.info({ delivery: delivery._id }, 'the claim was replaced: this outcome does not count');
    },
  });
  return {
    ...loop,
    claimOnWrite: (transaction, { keys }) => loop.claimOnWrite(transaction, { keys, roomOf: places.roomOf }),
  };
}

/** Tries to deliver, unless the lease might run out meanwhile. */
async function attempt(
  deps: DelivererDeps,
  delivery: DeliveryDocument,
  mayCall: (nowMs: number) => boolean,
): Promise<Outcome> {
  if (deps.endpoints.isDisabled(delivery.bulkhead)) return { state: 'deferred' };
  const merchant = await deps.directory.find(delivery.merchantId);
  const url = merchant && addressOf(delivery, merchant.webhooks);
  if (!merchant || url === undefined) {
    const reason = merchant ? 'the merchant has no address for it' : 'the merchant is unknown';
    return { state: 'discarded', reason };
  }
  deps.crashPoint('webhooks.deliver.before-call');
  const atMs = deps.clock.nowMs();
  if (!mayCall(atMs)) return undefined;
  const result = await send(deps, delivery, { url, headers: headersFor(delivery, merchant.webhooks, atMs) });
  deps.crashPoint('webhooks.deliver.after-call');
  const nowMs = deps.clock.nowMs();
  const durationMs = Math.max(0, nowMs - atMs);
  deps.attempted(result, durationMs);
  const step = decideNext({
    result,
    attemptsBefore: delivery.roundAttempts,
    delaysMs: deps.delaysMs,
    nowMs,
    chance: deps.random.fraction(),
  });
  if (step.kind === 'exhausted') {
    deps.logger.warn({ delivery: delivery._id, reason: step.reason, result }, 'a webhook is given up');
  }
  const answer = result.kind === 'answered' ? { status: result.status } : { error: result.error };
  const own = ownAddressOf(delivery.bulkhead, merchant);
  return {
    ...changeOf(step),
    attempt: { at: new Date(atMs), ...answer, durationMs },
    ...(own !== undefined && { address: own }),
  };
}

/** Sends a webhook as part of its payment's trace; the trace is not sent to merchants (ADR 38). */
function send(
  { sender }: Pick<DelivererDeps, 'sender'>,
  { _id, reference, traceparent, body }: DeliveryDocument,
  to: Omit<Dispatch, 'body'>,
): Promise<AttemptResult> {
  const attributes = {
    'http.request.method': 'POST',
    'pesewa.delivery': _id,
    'pesewa.reference': reference,
  };
  return inTraceOf(traceparent, () =>
    inClientSpan(
      'webhook POST',
      attributes,
      () => sender.send({ ...to, body }),
      (result, span) => {
        if (result.kind === 'answered') span.setAttribute('http.response.status_code', result.status);
        else span.setAttribute('error.type', result.error);
      },
    ),
  );
}

function changeOf(step: NextStep): Pick<DeliveryChange, 'state' | 'dueAtMs' | 'reason'> {
  switch (step.kind) {
    case 'retry':
      return { state: 'pending', dueAtMs: step.dueAtMs };
    case 'exhausted':
      return { state: 'exhausted', reason: step.reason };
    case 'delivered':
      return { state: 'delivered' };
    default:
      return unreachable(step);
  }
}
