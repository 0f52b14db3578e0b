import type { Directory, Merchant } from '@pesewa/directory';
import { type Clock, type Ids, type Random, unreachable } from '@pesewa/kernel';
import { type Loop, startClaimLoop } from '@pesewa/messaging';
import {
  type Bulkheads,
  type CrashPoint,
  createBulkheads,
  inClientSpan,
  inTraceOf,
  type Logger,
} from '@pesewa/runtime';
import { signWebhook } from '@pesewa/signatures';
import type { Deliveries, DeliveryOutcome } from './deliveries.ts';
import type { DeliveryDocument } from './documents.ts';
import { type AttemptResult, decideNext, type NextStep } from './domain/delivery.ts';
import type { Dispatch, Sender } from './sender.ts';
import type { DeliveryStore } from './store.ts';

/** The time for committing an outcome, in addition to the deadline of the attempt. */
const COMMIT_TIMEOUT_MS = 10_000;
/** A bulkhead's queue is twice as long as its concurrency, so that a delivery waits for two deadlines at most. */
const LINE_ROUNDS_MAX = 2;
/** How long a delivery is put back if its bulkhead is full. */
const GIVE_BACK_MS = 1_000;

/** The dependencies of the deliverer. */
export interface DelivererDeps {
  readonly store: DeliveryStore;
  readonly deliveries: Pick<Deliveries, 'recordOutcome'>;
  readonly directory: Pick<Directory, 'find'>;
  /** Called after each attempt. */
  readonly attempted: (result: AttemptResult, durationMs: number) => void;
  readonly sender: Sender;
  readonly delaysMs: readonly number[];
  readonly deadlineMs: number;
  readonly concurrencyMax: number;
  readonly concurrencyPerEndpointMax: number;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
}

/**
 * Delivers due webhooks, outside any transaction. After a crash between the call and its outcome, the webhook is sent
 * again when the lease has run out, with the same id and body: merchants deduplicate by reference (contract 6.3).
 */
export function startDeliverer(deps: DelivererDeps): Loop {
  const workTimeoutMs = deps.deadlineMs * (1 + LINE_ROUNDS_MAX) + COMMIT_TIMEOUT_MS;
  const runningMax = deps.concurrencyPerEndpointMax;
  const bulkheads = createBulkheads({
    runningMax,
    waitingMax: runningMax * LINE_ROUNDS_MAX,
    freed: () => loop.wake(),
  });
  const loop = startClaimLoop({
    name: 'webhook deliverer',
    collection: deps.store.collection,
    // A getter, because the loop reads it in every round: deliveries of full bulkheads are not claimed.
    open: {
      state: 'pending',
      get bulkhead() {
        return { $nin: bulkheads.full() };
      },
    },
    leaseMs: workTimeoutMs * 1.5,
    workTimeoutMs,
    batchMax: 32,
    concurrencyMax: deps.concurrencyMax,
    pauseMs: deps.pauseMs,
    clock: deps.clock,
    ids: deps.ids,
    logger: deps.logger,
    work: (delivery, claim) => deliver(deps, bulkheads, delivery, claim),
  });
  return loop;
}

async function deliver(
  deps: DelivererDeps,
  bulkheads: Bulkheads,
  delivery: DeliveryDocument,
  claim: string,
): Promise<void> {
  const merchant = await deps.directory.find(delivery.merchantId);
  const url = merchant && addressOf(delivery, merchant);
  if (!merchant || url === undefined) {
    const reason = merchant ? 'the merchant has no address for it' : 'the merchant is unknown';
    await recordOutcome(deps, { id: delivery._id, claim, state: 'discarded', reason });
    return;
  }
  const sent = await bulkheads.run(delivery.bulkhead, async () => {
    const atMs = deps.clock.nowMs();
    deps.crashPoint('webhooks.deliver.before-call');
    const result = await send(deps, delivery, { url, headers: headersFor(delivery, merchant, atMs) });
    deps.crashPoint('webhooks.deliver.after-call');
    return { atMs, result };
  });
  if (!sent) {
    await deps.store.giveBack(delivery._id, claim, deps.clock.nowMs() + GIVE_BACK_MS);
    return;
  }
  const { atMs, result } = sent;
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
  await recordOutcome(deps, {
    id: delivery._id,
    claim,
    ...changeOf(step),
    attempt: {
      atMs,
      durationMs,
      ...(result.kind === 'answered' ? { status: result.status } : { error: result.error }),
    },
  });
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

async function recordOutcome(deps: DelivererDeps, outcome: DeliveryOutcome): Promise<void> {
  const recorded = await deps.deliveries.recordOutcome(outcome);
  if (!recorded)
    deps.logger.info({ delivery: outcome.id }, 'the claim was replaced: this outcome does not count');
}

function changeOf(step: NextStep): Pick<DeliveryOutcome, 'state' | 'dueAtMs' | 'reason'> {
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

/** The collection's own address, else the merchant's (contract 10.15). */
function addressOf(delivery: DeliveryDocument, merchant: Merchant): string | undefined {
  const { payoutsUrl, collectionsUrl } = merchant.webhooks;
  const own = delivery.kind.startsWith('payout') ? payoutsUrl : collectionsUrl;
  return delivery.webhookUrl ?? own ?? undefined;
}

function headersFor(delivery: DeliveryDocument, merchant: Merchant, nowMs: number) {
  const signed = signWebhook({
    id: delivery._id,
    timestamp: new Date(nowMs),
    body: delivery.body,
    secrets: merchant.webhooks.secrets,
  });
  return { 'content-type': 'application/json', 'user-agent': 'Pesewa-Webhooks/1', ...signed };
}
