import type { Clock, Ids, Random } from '@pesewa/kernel';
import { type Loop, type Messaging, startClaimLoop, type Transaction } from '@pesewa/messaging';
import type { Observation, RailConnector } from '@pesewa/rails';
import type { CrashPoint, Logger } from '@pesewa/runtime';
import { type BreakDocument, type BreakStore, breaksOf } from './breaks.ts';
import type { RailAnswer, Verdict } from './domain/question.ts';
import { afterPoll, isScheduled, type PollSchedule } from './domain/schedule.ts';
import { remember, type Terms, type Tracked } from './domain/tracked.ts';
import { afterVerdict, judge } from './domain/verdict.ts';
import type { ReconcilerEvents } from './events.ts';
import { fromDocument, type WorkingStore } from './store.ts';

/** What came of a poll: the rail's answer, or why it can't be asked. */
type PollAnswer = Observation | Extract<RailAnswer, { readonly kind: 'unaskable' }>;

interface PollOutcome {
  readonly reference: string;
  readonly claim: string;
  readonly answer: PollAnswer;
  readonly polledAtMs: number;
}

/** What polling needs. */
export interface PollerDeps {
  readonly store: WorkingStore;
  readonly breaks: BreakStore;
  readonly events: ReconcilerEvents;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly rail: (name: string) => Pick<RailConnector, 'lookUpPayout' | 'checkCollection'> | undefined;
  readonly schedule: PollSchedule;
  readonly notFoundGraceMs: number;
  readonly pollsBeforeBreak: number;
  /** The longest that one call to any rail may take. */
  readonly callDeadlineMs: number;
  readonly concurrencyMax: number;
  readonly pauseMs: number;
  readonly polled: (rail: string, result: string) => void;
  /** Looks at a reference that nobody has opened: there is nobody to ask about it. */
  readonly lookAtUnknown: (reference: string) => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
}

const LEASE_FACTOR = 2;
const MARGIN_MS = 5_000;

/**
 * Asks rails about due payments, outside any transaction, and commits what they said (design 7).
 *
 * A crash between the call and the commit loses nothing: the payment is due again after its lease.
 */
export function startPoller(deps: PollerDeps): Loop {
  const outcomes = deps.messaging.groupCommit<PollOutcome, void>('reconciler.poll', (polls, transaction) =>
    commitPolls(deps, polls, transaction),
  );
  const workTimeoutMs = deps.callDeadlineMs + MARGIN_MS;
  const leaseMs = workTimeoutMs * LEASE_FACTOR;
  return startClaimLoop({
    name: 'reconciler poller',
    collection: deps.store.collection,
    open: { watch: true },
    // A little before the rail is asked. Owners compare it with their attempts, which have the same clock: so our own
    // can't make a NOT FOUND look older than it is (design 4.3).
    mark: { askedAt: '$$NOW' },
    leaseMs,
    workTimeoutMs,
    batchMax: 200,
    concurrencyMax: deps.concurrencyMax,
    pauseMs: deps.pauseMs,
    clock: deps.clock,
    ids: deps.ids,
    logger: deps.logger,
    work: async (document, claim) => {
      const { reference, terms, askedAtMs } = fromDocument(document);
      if (terms === null) return deps.lookAtUnknown(reference);
      const polledAtMs = askedAtMs ?? deps.clock.nowMs();
      deps.crashPoint('reconciler.poll.before-call');
      const answer = await ask(deps, reference, terms);
      deps.crashPoint('reconciler.poll.after-call');
      deps.polled(terms.rail, answer.kind);
      if (answer.kind === 'unknown' || answer.kind === 'unaskable') {
        deps.logger.warn({ reference, rail: terms.rail, why: answer.why }, 'a poll got no answer');
      }
      return outcomes.submit({ reference, claim, answer, polledAtMs });
    },
  });
}

async function ask(deps: PollerDeps, reference: string, terms: Terms): Promise<PollAnswer> {
  const rail = deps.rail(terms.rail);
  if (!rail) return { kind: 'unaskable', why: 'the rail is not configured here' };
  const { currency, country } = terms;
  if (terms.kind === 'payout') return rail.lookUpPayout({ reference, currency });
  if (country === null) return { kind: 'unaskable', why: 'the country of the collection is not known here' };
  return rail.checkCollection({ reference, country, currency });
}

async function commitPolls(
  deps: PollerDeps,
  polls: readonly PollOutcome[],
  transaction: Transaction,
): Promise<readonly undefined[]> {
  const loaded = new Map(
    await deps.store.load(
      polls.map(({ reference }) => reference),
      transaction.session,
    ),
  );
  const opened: BreakDocument[] = [];
  for (const poll of polls) {
    const tracked = loaded.get(poll.reference);
    const terms = tracked?.terms;
    if (!tracked || !terms) continue;
    const { settleMs } = deps.schedule;
    const { answer, polledAtMs } = poll;
    const verdict = judge({
      tracked,
      terms,
      expectedFee: terms.railFee,
      source: 'poll',
      answer,
      isScheduled: isScheduled(tracked, polledAtMs),
      polledAtMs,
      settleMs,
      notFoundGraceMs: deps.notFoundGraceMs,
      pollsBeforeBreak: deps.pollsBeforeBreak,
    });
    const from = { source: 'poll', atMs: polledAtMs, causationId: null } as const;
    if (verdict.fact) transaction.emit(deps.events.observed(tracked, terms, verdict.fact, from));
    opened.push(...breaksOf(tracked, terms, verdict, new Date(deps.clock.nowMs())));
    loaded.set(poll.reference, polledOnce(deps, tracked, poll, verdict));
  }
  await deps.store.save([...loaded.values()], transaction.session);
  await deps.breaks.open(opened, transaction.session);
  for (const document of opened) transaction.emit(deps.events.breakOpened(document));
  return polls.map(() => undefined);
}

function polledOnce(deps: PollerDeps, tracked: Tracked, poll: PollOutcome, verdict: Verdict): Tracked {
  const { answer, claim, polledAtMs } = poll;
  const { schedule } = deps;
  const nowMs = deps.clock.nowMs();
  const history = remember(tracked.history, { what: 'poll', detail: answer.kind, atMs: polledAtMs });
  const judged = afterVerdict({ ...tracked, history }, verdict, nowMs);
  const made = { claim, polledAtMs, askable: answer.kind !== 'unaskable' };
  const next = afterPoll(judged, made, verdict, { schedule, nowMs, fraction: deps.random.fraction() });
  return { ...next, notFoundSinceMs: notFoundSince(tracked, poll) };
}

/** Since when the rail has not known the payment: no answer at all changes nothing, any other begins anew. */
function notFoundSince(
  { notFoundSinceMs }: Tracked,
  { answer, polledAtMs }: Pick<PollOutcome, 'answer' | 'polledAtMs'>,
): number | null {
  if (answer.kind === 'unknown' || answer.kind === 'unaskable') return notFoundSinceMs;
  return answer.kind === 'notFound' ? (notFoundSinceMs ?? polledAtMs) : null;
}
