import { type Clock, type Ids, unreachable } from '@pesewa/kernel';
import {
  type ClaimLoop,
  type Loop,
  type Messaging,
  startClaimLoop,
  type Transaction,
} from '@pesewa/messaging';
import {
  attemptUpdate,
  createOutcomeRecorder,
  type IsPaused,
  PAUSED_RETRY_MS,
  withAttempt,
} from '@pesewa/payments';
import type { OutgoingPayout } from '@pesewa/rails';
import { CALL_TIMEOUT_MS, mayStillCall, type PayoutRail, type SubmissionResult } from '@pesewa/rails';
import { type CrashPoint, type Endable, inTraceOf, type Logger } from '@pesewa/runtime';
import type { AttemptOutcome } from './domain/payout.ts';
import type { PayoutRequest } from './domain/request.ts';
import type { CausedCommand, ClaimDue, Payouts } from './payouts.ts';
import {
  fromDocument,
  type Payout,
  type PayoutChange,
  type PayoutDocument,
  type PayoutStore,
  queueOf,
  submissionQueues,
  toDocument,
} from './store.ts';

const LEASE_MS = 45_000;
const LATE_RETRY_MS = 1_000;
const WAITING_PER_PLACE = 4;

/** The parts of a rail that submission needs. */
export type SubmittingRail = Pick<PayoutRail, 'name' | 'isAvailable'> & {
  readonly payouts: Pick<PayoutRail['payouts'], 'submit'>;
};

interface SubmitterDeps {
  readonly store: Pick<PayoutStore, 'collection'>;
  readonly payouts: Pick<Payouts, 'apply'>;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'isAlive'>;
  readonly rails: readonly SubmittingRail[];
  /** For each queue. */
  readonly concurrencyMax: number;
  readonly isPaused: IsPaused;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
}

/** Submits payouts, and claims those that become due by the write that makes them due. */
export interface Submitter extends Loop, Endable {
  readonly claimDue: ClaimDue;
}

/**
 * Submits held payouts to their rails, outside any transaction.
 *
 * Each rail has a queue for single payouts and one for the items of batches, each with its own concurrency limit:
 * neither a slow rail nor a large batch delays other payouts, and nothing is claimed while a circuit is open (ADR 62).
 *
 * The claim commits the attempt before the call. A crash in between leaves the payout `submitting`, which is never
 * claimed again: the reconciler's lookup finds out what happened (ADR 5). Where there is room the payout is claimed by
 * the write that makes it due; the loops find the others, and those that are due again.
 */
export function startSubmitter(deps: SubmitterDeps): Submitter {
  const { clock, logger, messaging, payouts } = deps;
  const recorder = createOutcomeRecorder({ clock, logger, thenAsks: 'lookup' });
  const outcomes = messaging.groupCommit<CausedCommand, void>(
    'payouts.outcome',
    async (commands, transaction, isRetry) => {
      // A fact or a decision may have come before the answer: then what was known of the payout is out of date.
      await payouts.apply(isRetry ? commands.map(withoutKnown) : commands, transaction);
      return commands.map(() => undefined);
    },
  );
  const record: RecordOutcome = (known, outcome) => {
    const { reference, attempts: attempt } = known;
    const command = { kind: 'recordAttempt', attempt, outcome } as const;
    return recorder.record(() => outcomes.submit({ reference, causationId: null, command, known }), {
      reference,
      attempt,
      outcome: outcome.kind,
    });
  };
  let isEnding = false;
  // A process that was silent may have claimed in a database that is being repaired, where it is asked first (ADR 45).
  const mayCall = (claimedAtMs: number) =>
    !isEnding && messaging.isAlive() && mayStillCall(claimedAtMs, clock.nowMs());
  const queues = deps.rails.flatMap((rail) =>
    submissionQueues.map((queue) => startQueue(deps, { rail, queue, mayCall, record })),
  );
  return {
    // The rail is called later: `claimIn` reserves places of the queue's loop, `payouts.apply` writes the claims, and after
    // the commit the loop does its `work` on them, which calls the rail and gives what records the answer.
    claimDue: (changes, transaction) => {
      const claimed = new Map<string, PayoutChange>();
      const open = changes.filter(({ after }) => !deps.isPaused(after));
      for (const queue of queues)
        for (const change of claimIn(queue, open, transaction, clock.nowMs()))
          claimed.set(change.after.reference, change);
      return changes.map((change) => claimed.get(change.after.reference) ?? change);
    },
    wake: () => {
      for (const { loop } of queues) loop.wake();
    },
    endsWithinMs: CALL_TIMEOUT_MS,
    [Symbol.asyncDispose]: async () => {
      isEnding = true;
      recorder.stop();
      await Promise.all(queues.map(({ loop }) => loop[Symbol.asyncDispose]()));
    },
  };
}

function withoutKnown(command: CausedCommand): CausedCommand {
  return { ...command, known: undefined };
}

type RecordOutcome = (payout: Payout, outcome: AttemptOutcome) => Promise<void>;

interface Queue {
  readonly rail: string;
  readonly queue: (typeof submissionQueues)[number];
  readonly loop: ClaimLoop<PayoutDocument>;
}

/** The changes that made payouts of the queue due, as far as it has room for them, with its claim. */
function claimIn(
  { rail, queue, loop }: Queue,
  changes: readonly PayoutChange[],
  transaction: Transaction,
  nowMs: number,
): readonly PayoutChange[] {
  const due = changes.filter(
    ({ after }) => after.step === 'held' && after.rail === rail && queueOf(after) === queue,
  );
  if (due.length === 0) return [];
  const { granted, fields, begin } = loop.claimOnWrite(transaction, { keys: due.map(() => queue) });
  const claimed = due
    .filter((_change, index) => granted[index])
    .map(({ before, after }) => {
      const leased = { ...after, dueAtMs: fields.dueAt.getTime() };
      return { before, after: withAttempt(leased, 'submitting', nowMs), claim: fields.claim };
    });
  begin(claimed.map(({ after }) => toDocument(after)));
  return claimed;
}

function startQueue(
  deps: SubmitterDeps,
  {
    rail,
    queue,
    mayCall,
    record,
  }: {
    readonly rail: SubmittingRail;
    readonly queue: Queue['queue'];
    /** Whether the call of an attempt may still begin; not if its claim or the process's heartbeat is too old. */
    readonly mayCall: (claimedAtMs: number) => boolean;
    readonly record: RecordOutcome;
  },
): Queue {
  const loop = startClaimLoop({
    name: `payout submitter ${rail.name}/${queue}`,
    collection: deps.store.collection,
    open: { step: 'held', rail: rail.name, queue },
    alsoSet: attemptUpdate('submitting'),
    mayClaim: () => deps.messaging.isAlive() && rail.isAvailable() && !deps.isPaused({ rail: rail.name }),
    leaseMs: LEASE_MS,
    workTimeoutMs: CALL_TIMEOUT_MS,
    batchMax: 100,
    concurrencyMax: deps.concurrencyMax,
    waitingMax: WAITING_PER_PLACE * deps.concurrencyMax,
    pauseMs: deps.pauseMs,
    clock: deps.clock,
    ids: deps.ids,
    logger: deps.logger,
    work: async (document, _claim, claimedAtMs) => {
      const payout = fromDocument(document);
      deps.crashPoint('payouts.submit.before-call');
      const why = deps.isPaused(payout) ? PAUSED : mayCall(claimedAtMs) ? undefined : TOO_LATE;
      const result = why ?? (await callRail(rail, payout));
      deps.crashPoint('payouts.submit.after-call');
      if (result.kind === 'unknown' || result.kind === 'notSent') {
        deps.logger.warn(
          { reference: payout.reference, rail: payout.rail, result: result.kind, why: result.why },
          'no clear answer from the rail',
        );
      }
      const outcome = outcomeOf(result, deps.clock.nowMs());
      return () => record(payout, outcome);
    },
  });
  return { rail: rail.name, queue, loop };
}

const PAUSED = { kind: 'notSent', why: 'payouts are paused', retryAfterMs: PAUSED_RETRY_MS } as const;
const TOO_LATE = {
  kind: 'notSent',
  why: 'claim or heartbeat is too old',
  retryAfterMs: LATE_RETRY_MS,
} as const;

async function callRail(rail: SubmittingRail, payout: Payout): Promise<SubmissionResult> {
  if (payout.order.sender === null) throw new TypeError(`the recipient of ${payout.reference} is unknown`);
  const order = outgoingPayout(payout.reference, payout.order);
  return inTraceOf(payout.traceparent, () => rail.payouts.submit(order));
}

function outcomeOf(result: SubmissionResult, nowMs: number): AttemptOutcome {
  switch (result.kind) {
    case 'notSent':
      return { kind: 'notSent', retryAtMs: nowMs + result.retryAfterMs };
    case 'completed':
      return { kind: 'completed', fee: result.fee ?? 0n };
    case 'unknown':
      return { kind: 'unknown' };
    case 'acknowledged':
    case 'failed':
      return result;
    default:
      return unreachable(result);
  }
}

/**
 * A payout as its rail gets it: with our reference and without invented values. An item of a batch may lack fields that
 * contract 2.2 requires of a single payout; the connector decides how it is sent then.
 */
export function outgoingPayout(reference: string, request: PayoutRequest): OutgoingPayout {
  const { merchantReference: _theirs, amount, ...details } = request;
  return { ...details, reference, currency: amount.currency, amount: amount.minor };
}
