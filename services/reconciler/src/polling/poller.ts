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
import type { ProofSettings } from '../domain/judging.ts';
import {
  afterBackOff,
  afterPoll,
  isScheduled,
  notAsked,
  type Poll,
  type PollSchedule,
  untilTaken,
} from '../domain/schedule.ts';
import type { Tracked } from '../domain/tracked.ts';
import { confirmsCallback, isEndOverdue } from '../domain/verdict.ts';
import { fromDocument, type PollDocument } from '../poll-document.ts';
import type { Arrivals } from '../steps/arrivals.ts';
import type { RequestRepublication } from '../steps/request.ts';
import type { WorkingStore } from '../store.ts';
import { createClaimDue } from './claim-due.ts';
import { ask, type PollAnswer, type PolledRail } from './polled-rail.ts';
import { type RailRateLimit, retryAfterMs } from './rail-rate-limit.ts';
import { takeAnswer } from './take-answer.ts';

interface PollOutcome extends Omit<Poll, 'answer'> {
  readonly reference: string;
  /** `notSent`: our own limits kept us from asking. */
  readonly answer: PollAnswer | NotSent;
}

/** The dependencies of polling. */
export interface PollerDeps
  extends Pick<ServiceScope<object>, 'clock' | 'random' | 'ids' | 'logger' | 'crashPoint'>,
    Pick<Arrivals, 'arrived'> {
  readonly store: WorkingStore;
  readonly breaks: BreakStore;
  readonly requestRepublication: RequestRepublication;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'runSerially'>;
  readonly rails: readonly PolledRail[];
  readonly rateLimit: RailRateLimit;
  readonly schedule: PollSchedule;
  readonly proof: ProofSettings;
  readonly pauseMs: number;
  readonly polled: (rail: string, result: string) => void;
  /** Called if the rate limit of a rail left due payments waiting. */
  readonly rateLimited: (rail: string) => void;
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
    claimed: (_records, isRateLimited) => {
      if (isRateLimited) deps.rateLimited(name);
    },
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
  const references = polls.map(({ reference }) => reference);
  const loaded = await deps.store.load(references, transaction.session);
  const changed = new Map<string, Tracked>();
  const reports: BreakReport[] = [];
  for (const poll of polls) {
    const { reference, answer, askedAtMs, claim } = poll;
    const tracked = changed.get(reference) ?? loaded.get(reference);
    const terms = tracked?.terms;
    if (!tracked || !terms) continue;
    const nowMs = deps.clock.nowMs();
    if (answer.kind === 'notSent') {
      const soon = afterBackOff(nowMs, answer.retryAfterMs, deps.random.fraction());
      const retryAtMs = rails.get(terms.rail)?.isAvailable() ? soon : null;
      changed.set(reference, notAsked(tracked, poll, retryAtMs));
      continue;
    }
    const evidence = {
      ...deps.proof,
      tracked,
      terms,
      answer,
      isScheduled: isScheduled(tracked, askedAtMs),
      askedAtMs,
      arrived: deps.arrived(terms.kind),
    } as const;
    const taken = takeAnswer(evidence, nowMs, transaction);
    const { verdict } = taken;
    // Nothing is written: the lease of this poll says when to ask again.
    if (tracked.claim === claim && confirmsCallback(evidence, verdict)) continue;
    if (isEndOverdue(tracked, verdict, evidence))
      deps.requestRepublication({ reference, kind: terms.kind, step: 'end' }, transaction);
    reports.push(...taken.reports);
    changed.set(reference, polledOnce(deps, tracked, { ...poll, answer }, taken));
  }
  await applyReports(deps.breaks, reports, changed, transaction);
  await deps.store.save([...changed.values()], transaction.session);
  return polls.map(() => undefined);
}

function polledOnce(
  { schedule, clock, random }: PollerDeps,
  tracked: Tracked,
  poll: Poll,
  { verdict, after }: ReturnType<typeof takeAnswer>,
): Tracked {
  const nowMs = clock.nowMs();
  const { answer, claim, askedAtMs } = poll;
  return {
    ...afterPoll(after, poll, verdict, { schedule, nowMs, fraction: random.fraction() }),
    // The end that its owner has published since the claim may be followed by another.
    ...(tracked.claim !== claim && untilTaken(tracked, verdict, nowMs)),
    // A rail that gives no answer can't be asked to initiate the payment either, so the time begins anew after that; a
    // payment that never gets anywhere is one that is stuck.
    notFoundSinceMs: answer.kind === 'notFound' ? (tracked.notFoundSinceMs ?? askedAtMs) : null,
  };
}
