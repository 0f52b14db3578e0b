import type { Messaging, Transaction } from '@pesewa/messaging';
import type { ServiceScope } from '@pesewa/runtime';
import type { BreakStore } from '../breaks/store.ts';
import type { ProofSettings } from '../domain/judging.ts';
import {
  afterBackOff,
  afterPoll,
  isScheduled,
  notAsked,
  type PollSchedule,
  untilTaken,
} from '../domain/schedule.ts';
import type { Tracked } from '../domain/tracked.ts';
import { confirmsCallback, isEndOverdue } from '../domain/verdict.ts';
import { fromDocument, type PollDocument } from '../poll-document.ts';
import type { Arrivals } from '../steps/arrivals.ts';
import type { RequestRepublication } from '../steps/request.ts';
import type { WorkingStore } from '../store.ts';
import { type Answered, startAskLoops } from './ask-loops.ts';
import { createClaimDue } from './claim-due.ts';
import type { PolledRail } from './polled-rail.ts';
import { type RailRateLimit, retryAfterMs } from './rail-rate-limit.ts';
import { type Taken, takeAnswer, takeAnswers } from './take-answer.ts';

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

const BATCH_MAX = 200;
const UNASKED_CONCURRENCY_MAX = 64;
const WAITING_PER_PLACE = 8;

type Poll = Answered<PollDocument>;

/** Polls rails about due payments, each within its concurrency here and its rate over all replicas (ADR 26). */
export function startPoller(deps: PollerDeps) {
  const rails = new Map(deps.rails.map((rail) => [rail.name, rail]));
  const polls = deps.messaging.groupCommit<Poll, void>(
    'reconciler.poll',
    async (answered, transaction) => {
      const take = (poll: Poll, tracked: Tracked | undefined) =>
        takePoll(deps, rails, poll, tracked, transaction);
      await takeAnswers(deps, answered, take, transaction);
      return answered.map(() => undefined);
    },
    { sharesTransactions: true },
  );
  const loops = startAskLoops<PollDocument>(deps, {
    name: 'reconciler.poll',
    beforeCall: () => deps.crashPoint('reconciler.poll.before-call'),
    afterCall: () => deps.crashPoint('reconciler.poll.after-call'),
    collection: deps.store.collection,
    railField: 'watch',
    limitsOf: (rail) => limitsOf(deps, rail),
    paymentOf: fromDocument,
    commit: (poll) => {
      const { answer, reference, row } = poll;
      const rail = row.terms?.rail ?? '';
      deps.polled(rail, answer.kind);
      if (answer.kind === 'unknown' || answer.kind === 'unaskable')
        deps.logger.warn({ reference, rail, why: answer.why }, 'a poll got no answer');
      return polls.submit(poll);
    },
  });
  return {
    claimDue: createClaimDue(loops.ofRails, loops.wake),
    [Symbol.asyncDispose]: loops[Symbol.asyncDispose],
  };
}

function limitsOf({ rateLimit, rateLimited, messaging }: PollerDeps, rail?: PolledRail) {
  const shared = {
    priority: 'newestAndOldest',
    runSerially: messaging.runSerially,
    batchMax: BATCH_MAX,
    claimed: (_records: number, isRateLimited: boolean) => {
      if (isRateLimited) rateLimited(rail?.name ?? 'other rails');
    },
  } as const;
  if (!rail) return { ...shared, concurrencyMax: UNASKED_CONCURRENCY_MAX };
  const { concurrencyMax, perSecondMax: perSecond } = rail.capabilities.polling;
  return {
    ...shared,
    concurrencyMax,
    waitingMax: WAITING_PER_PLACE * concurrencyMax,
    rateLimit: {
      take: (wanted: number) => rateLimit.take(rail.name, { wanted, perSecond }),
      giveBack: (unused: number) => rateLimit.giveBack(rail.name, unused),
      retryAfterMs: retryAfterMs(perSecond),
    },
  };
}

function takePoll(
  { clock, random, schedule, proof, arrived, requestRepublication }: PollerDeps,
  rails: ReadonlyMap<string, PolledRail>,
  { reference, answer, claim, askedAtMs }: Poll,
  tracked: Tracked | undefined,
  transaction: Transaction,
): Taken | undefined {
  const terms = tracked?.terms;
  if (!tracked || !terms) return undefined;
  const nowMs = clock.nowMs();
  const fraction = random.fraction();
  const { kind } = terms;
  if (answer.kind === 'notSent') {
    const soon = afterBackOff(nowMs, answer.retryAfterMs, fraction);
    const retryAtMs = rails.get(terms.rail)?.isAvailable() ? soon : null;
    return { after: notAsked(tracked, { claim, askedAtMs }, retryAtMs), reports: [] };
  }
  const scheduled = isScheduled(tracked, askedAtMs);
  const evidence = {
    ...proof,
    tracked,
    terms,
    answer,
    isScheduled: scheduled,
    askedAtMs,
    arrived: arrived(kind),
  };
  const { verdict, reports, after } = takeAnswer(evidence, nowMs, transaction);
  // Nothing is written: the lease of this poll says when to ask again.
  if (tracked.claim === claim && confirmsCallback(evidence, verdict)) return undefined;
  if (isEndOverdue(tracked, verdict, evidence))
    requestRepublication({ reference, kind, step: 'end' }, transaction);
  const polled = {
    ...afterPoll(after, { claim, askedAtMs, answer }, verdict, { schedule, nowMs, fraction }),
    // The end that its owner has published since the claim may be followed by another.
    ...(tracked.claim !== claim && untilTaken(tracked, verdict, nowMs)),
    // A rail that gives no answer can't be asked to initiate the payment either, so the time begins anew after that; a
    // payment that never gets anywhere is one that is stuck.
    notFoundSinceMs: answer.kind === 'notFound' ? (tracked.notFoundSinceMs ?? askedAtMs) : null,
  };
  return { after: polled, reports };
}
