import type { PaymentKind } from '@pesewa/contracts';
import {
  type ClaimLoop,
  type Messaging,
  type RecordOutcome,
  startClaimLoop,
  type Transaction,
} from '@pesewa/messaging';
import type { NotSent } from '@pesewa/rails';
import { inTraceOf, type ServiceScope } from '@pesewa/runtime';
import { applyReports, type BreakReport } from '../breaks/reports.ts';
import type { BreakStore } from '../breaks/store.ts';
import type { ArrivedTime } from '../domain/arrived.ts';
import { afterPoll, isScheduled, notAsked, type PollSchedule, untilTaken } from '../domain/schedule.ts';
import type { Tracked } from '../domain/tracked.ts';
import { confirmsCallback, isEndOverdue } from '../domain/verdict.ts';
import { fromDocument, type PollDocument } from '../poll-document.ts';
import type { RequestRepublication } from '../steps/request.ts';
import type { WorkingStore } from '../store.ts';
import { createClaimDue } from './claim-due.ts';
import { ask, type PollAnswer, type PolledRail } from './polled-rail.ts';
import { type RailRateLimit, retryAfterMs } from './rail-rate-limit.ts';
import { takeAnswer } from './take-answer.ts';

interface PollOutcome {
  readonly reference: string;
  readonly claim: string;
  /** `notSent`: our own limits kept us from asking. */
  readonly answer: PollAnswer | NotSent;
  readonly askedAtMs: number;
}

/** The dependencies of polling. */
export interface PollerDeps
  extends Pick<ServiceScope<object>, 'clock' | 'random' | 'ids' | 'logger' | 'crashPoint'> {
  readonly store: WorkingStore;
  readonly breaks: BreakStore;
  readonly requestRepublication: RequestRepublication;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'runSerially'>;
  readonly rails: readonly PolledRail[];
  readonly rateLimit: RailRateLimit;
  readonly schedule: PollSchedule;
  readonly notFoundGraceMs: number;
  readonly pollsBeforeBreak: number;
  /** The period in which our messages about payments of a kind arrived; null if unknown. */
  readonly arrived: (kind: PaymentKind) => ArrivedTime | null;
  readonly pauseMs: number;
  readonly polled: (rail: string, result: string) => void;
  /** Called with how many payments of a rail were claimed, and whether its rate limit left others waiting. */
  readonly claimed: (watch: string, records: number, isRateLimited: boolean) => void;
}

const LEASE_FACTOR = 2;
const MARGIN_MS = 5_000;
const BATCH_MAX = 200;
/** For payments that no rail is asked about: they need only the database. */
const UNASKED_CONCURRENCY_MAX = 64;
const UNASKED_TIMEOUT_MS = 15_000;
const WAITING_PER_PLACE = 8;

/**
 * Asks rails about due payments, outside any transaction, and commits the answers (ADR 26).
 *
 * Each rail has its own claim loop, within its concurrency here and its rate over all replicas: neither a slow rail nor
 * its backlog delays another, and behind an open circuit nothing is claimed, so that it stays due.
 *
 * A crash between the call and the commit loses nothing: the payment is due again after its lease. Disposing of it waits
 * for the polls in progress.
 */
export function startPoller(deps: PollerDeps) {
  const rails = new Map(deps.rails.map((rail) => [rail.name, rail]));
  const outcomes = deps.messaging.groupCommit<PollOutcome, void>(
    'reconciler.poll',
    (polls, transaction) => commitPolls(deps, rails, polls, transaction),
    { sharesTransactions: true },
  );
  let isEnding = false;
  const work = async (document: PollDocument, claim: string, claimedAtMs: number): Promise<RecordOutcome> => {
    const { reference, terms, traceparent, ...tracked } = fromDocument(document);
    if (terms === null) throw new Error(`${reference} is due, and has no rail`);
    const askedAtMs = tracked.askedAtMs ?? deps.clock.nowMs();
    deps.crashPoint('reconciler.poll.before-call');
    const rail = rails.get(terms.rail);
    // A poll must end within its lease.
    const isLate = deps.clock.nowMs() - claimedAtMs > workTimeoutMs(rail);
    const answer =
      isEnding || isLate
        ? TOO_LATE
        : await inTraceOf(traceparent ?? undefined, () => ask(rail, reference, terms));
    deps.crashPoint('reconciler.poll.after-call');
    deps.polled(terms.rail, answer.kind);
    if (answer.kind === 'unknown' || answer.kind === 'unaskable') {
      deps.logger.warn({ reference, rail: terms.rail, why: answer.why }, 'a poll got no answer');
    }
    return () => outcomes.submit({ reference, claim, answer, askedAtMs });
  };
  const loops = new Map(deps.rails.map((rail) => [rail.name, startPollLoop(deps, work, rail)]));
  // Rails that are not configured here: there should be none, and people are shown them.
  const others = startPollLoop(deps, work);
  const wake = (watches: readonly string[]) => {
    for (const watch of watches) (loops.get(watch) ?? others).wake();
  };
  return {
    claimDue: createClaimDue(loops, wake),
    [Symbol.asyncDispose]: async () => {
      isEnding = true;
      await Promise.all([...loops.values(), others].map((loop) => loop[Symbol.asyncDispose]()));
    },
  };
}

const TOO_LATE = { kind: 'notSent', why: 'its turn came too late', retryAfterMs: 0 } as const;

function workTimeoutMs(rail: Pick<PolledRail, 'capabilities'> | undefined): number {
  return rail ? rail.capabilities.callDeadlineMs + MARGIN_MS : UNASKED_TIMEOUT_MS;
}

type LoopOptions = Parameters<typeof startClaimLoop<PollDocument>>[0];

/** Starts the loop of a rail, or of all that are not configured. */
function startPollLoop(
  deps: PollerDeps,
  work: LoopOptions['work'],
  rail?: PolledRail,
): ClaimLoop<PollDocument> {
  const name = rail?.name ?? 'other rails';
  const configured = deps.rails.map((one) => one.name);
  return startClaimLoop({
    name: `reconciler poller ${name}`,
    collection: deps.store.collection,
    open: { watch: rail?.name ?? { $gt: '', $nin: configured } },
    // A little before the rail is asked. Owners compare this time with their attempts, which are from the same clock,
    // so that our own clock can't make a NOT FOUND look newer than it is (ADR 5).
    claimTimeField: 'askedAt',
    priority: 'newestAndOldest',
    runSerially: deps.messaging.runSerially,
    leaseMs: workTimeoutMs(rail) * LEASE_FACTOR,
    workTimeoutMs: workTimeoutMs(rail),
    batchMax: BATCH_MAX,
    concurrencyMax: UNASKED_CONCURRENCY_MAX,
    ...(rail && limitsOf(deps, rail)),
    pauseMs: deps.pauseMs,
    clock: deps.clock,
    ids: deps.ids,
    logger: deps.logger,
    claimed: (records, isRateLimited) => deps.claimed(name, records, isRateLimited),
    work,
  });
}

function limitsOf({ rateLimit }: PollerDeps, { name, capabilities, isAvailable }: PolledRail) {
  const { concurrencyMax, perSecondMax: perSecond } = capabilities.polling;
  return {
    mayClaim: isAvailable,
    concurrencyMax,
    waitingMax: WAITING_PER_PLACE * concurrencyMax,
    rateLimit: {
      take: (wanted: number) => rateLimit.take(name, { wanted, perSecond }),
      giveBack: (unused: number) => rateLimit.giveBack(name, unused),
      retryAfterMs: retryAfterMs(perSecond),
    },
  };
}

async function commitPolls(
  deps: PollerDeps,
  rails: ReadonlyMap<string, PolledRail>,
  polls: readonly PollOutcome[],
  transaction: Transaction,
): Promise<readonly undefined[]> {
  const loaded = new Map(
    await deps.store.load(
      polls.map(({ reference }) => reference),
      transaction.session,
    ),
  );
  const reports: BreakReport[] = [];
  for (const poll of polls) {
    const tracked = loaded.get(poll.reference);
    const terms = tracked?.terms;
    if (!tracked || !terms) continue;
    const { lagMs } = deps.schedule;
    const arrived = deps.arrived(terms.kind);
    const { answer, askedAtMs } = poll;
    if (answer.kind === 'notSent') {
      const soon = {
        nowMs: deps.clock.nowMs(),
        afterMs: answer.retryAfterMs,
        fraction: deps.random.fraction(),
      };
      const retry = rails.get(terms.rail)?.isAvailable() ? soon : null;
      loaded.set(poll.reference, notAsked(tracked, poll, retry));
      continue;
    }
    const evidence = {
      tracked,
      terms,
      answer,
      isScheduled: isScheduled(tracked, askedAtMs),
      askedAtMs,
      lagMs,
      notFoundGraceMs: deps.notFoundGraceMs,
      pollsBeforeBreak: deps.pollsBeforeBreak,
      arrived,
    } as const;
    const taken = takeAnswer(evidence, deps.clock.nowMs(), transaction);
    const { verdict } = taken;
    // Nothing is written: the lease of this poll says when to ask again.
    if (tracked.claim === poll.claim && confirmsCallback(evidence, verdict)) continue;
    if (isEndOverdue(tracked, verdict, { askedAtMs, lagMs, arrived })) {
      const { reference } = tracked;
      deps.requestRepublication({ reference, kind: terms.kind, step: 'end' }, transaction);
    }
    reports.push(...taken.reports);
    loaded.set(poll.reference, polledOnce(deps, tracked, { ...poll, answer }, taken));
  }
  await applyReports(deps.breaks, reports, loaded, transaction);
  await deps.store.save([...loaded.values()], transaction.session);
  return polls.map(() => undefined);
}

/** A poll whose question was sent, or could not be asked at all. */
type MadePoll = PollOutcome & { readonly answer: PollAnswer };

function polledOnce(
  deps: PollerDeps,
  tracked: Tracked,
  poll: MadePoll,
  { verdict, after }: ReturnType<typeof takeAnswer>,
): Tracked {
  const { answer, claim, askedAtMs } = poll;
  const { schedule } = deps;
  const nowMs = deps.clock.nowMs();
  const backOffMs = answer.kind === 'unknown' ? (answer.retryAfterMs ?? 0) : 0;
  const made = { claim, askedAtMs, askable: answer.kind !== 'unaskable', backOffMs };
  const next = afterPoll(after, made, verdict, { schedule, nowMs, fraction: deps.random.fraction() });
  // The end that its owner has published since the claim may be followed by another.
  const untaken = tracked.claim === claim ? {} : untilTaken(tracked, verdict, nowMs);
  // A rail that gives no answer can't be asked to initiate the payment either, so the time begins anew after that; a
  // payment that never gets anywhere is one that is stuck.
  const notFoundSinceMs = answer.kind === 'notFound' ? (tracked.notFoundSinceMs ?? askedAtMs) : null;
  return { ...next, ...untaken, notFoundSinceMs };
}
