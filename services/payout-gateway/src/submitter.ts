import { type Clock, type Ids, unreachable } from '@pesewa/kernel';
import { attemptMark, type Loop, type Messaging, startClaimLoop } from '@pesewa/messaging';
import { mayStillCall, type RailConnector, type SubmissionResult } from '@pesewa/rails';
import type { CrashPoint, Logger } from '@pesewa/runtime';
import type { AttemptOutcome } from './domain/payout.ts';
import type { PayoutOrderCommand, Payouts } from './payouts.ts';
import { railOrder } from './rail-order.ts';
import { fromDocument, type Payout, type PayoutStore } from './store.ts';

/** The longest that one call to a rail may take, deadline and margin. */
const CALL_TIMEOUT_MS = 20_000;
const LEASE_MS = 45_000;
const LATE_RETRY_MS = 1_000;

/**
 * Submits held payouts to their rails, outside any transaction.
 *
 * The claim commits the attempt before the call. A crash in between leaves the payout `submitting`, which nobody claims
 * again: the reconciler's lookup decides what became of it (design 4.3).
 */
export function startSubmitter(deps: {
  readonly store: Pick<PayoutStore, 'collection'>;
  readonly payouts: Pick<Payouts, 'apply'>;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly rail: (name: string) => Pick<RailConnector, 'submitPayout'> | undefined;
  readonly concurrencyMax: number;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
}): Loop {
  const outcomes = deps.messaging.groupCommit<PayoutOrderCommand, void>(
    'payouts.outcome',
    async (commands, transaction) => {
      await deps.payouts.apply(commands, transaction);
      return commands.map(() => undefined);
    },
  );

  return startClaimLoop({
    name: 'payout submitter',
    collection: deps.store.collection,
    open: { step: 'held' },
    mark: attemptMark('submitting'),
    leaseMs: LEASE_MS,
    workTimeoutMs: CALL_TIMEOUT_MS,
    batchMax: 100,
    concurrencyMax: deps.concurrencyMax,
    pauseMs: deps.pauseMs,
    clock: deps.clock,
    ids: deps.ids,
    logger: deps.logger,
    work: async (document) => {
      const payout = fromDocument(document);
      deps.crashPoint('payouts.submit.before-call');
      const result = await callRail(deps, payout);
      deps.crashPoint('payouts.submit.after-call');
      if (result.kind === 'unknown' || result.kind === 'notSent') {
        deps.logger.warn(
          { reference: payout.reference, rail: payout.rail, result: result.kind, why: result.why },
          'no clear answer from the rail',
        );
      }
      const outcome = outcomeOf(result, deps.clock.nowMs());
      await outcomes.submit({
        reference: payout.reference,
        causationId: null,
        command: { kind: 'recordAttempt', attempt: payout.attempts, outcome },
      });
    },
  });
}

/** Asks the rail to pay, unless there is none or the claim has grown too old to act on. */
async function callRail(
  deps: {
    readonly rail: (name: string) => Pick<RailConnector, 'submitPayout'> | undefined;
    readonly clock: Clock;
  },
  payout: Payout,
): Promise<SubmissionResult> {
  const rail = deps.rail(payout.rail);
  if (!rail) return { kind: 'notSent', why: 'the rail is not configured', retryAfterMs: LEASE_MS };
  if (payout.attemptedAtMs === null || !mayStillCall(payout.attemptedAtMs, deps.clock.nowMs())) {
    return {
      kind: 'notSent',
      why: 'the claim is too old, or the clocks differ',
      retryAfterMs: LATE_RETRY_MS,
    };
  }
  return rail.submitPayout(railOrder(payout.reference, payout.order));
}

function outcomeOf(result: SubmissionResult, nowMs: number): AttemptOutcome {
  switch (result.kind) {
    case 'notSent':
      return { kind: 'notSent', retryAtMs: nowMs + result.retryAfterMs };
    case 'completed':
      return { kind: 'completed', fee: result.fee ?? 0n };
    case 'unknown':
      return { kind: 'unknown' };
    case 'accepted':
    case 'failed':
      return result;
    default:
      return unreachable(result);
  }
}
