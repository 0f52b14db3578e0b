import type { Clock, Ids, Random } from '@pesewa/kernel';
import {
  type ClaimRateLimit,
  type Loop,
  type Messaging,
  startClaimLoop,
  type Transaction,
} from '@pesewa/messaging';
import type { NotSent } from '@pesewa/rails';
import type { CrashPoint, Logger } from '@pesewa/runtime';
import type { AnyBulkWriteOperation, Condition } from 'mongodb';
import { applyReports } from '../breaks/reports.ts';
import type { BreakStore } from '../breaks/store.ts';
import { matchRecord, sideOf } from '../domain/close.ts';
import type { Evidence, RailAnswer } from '../domain/judging.ts';
import { type PollSchedule, pauseBeforePoll, untilTaken } from '../domain/schedule.ts';
import type { Tracked } from '../domain/tracked.ts';
import { ask, type PolledRail } from '../polling/polled-rail.ts';
import { takeAnswer } from '../polling/take-answer.ts';
import type { WorkingStore } from '../store.ts';
import { breaksOfRecord, type CloseFinding, reportsOfRecord } from './breaks.ts';
import type { CloseRecord, CloseStore } from './store.ts';

/** The dependencies of asking. */
export interface AskingDeps {
  readonly closeStore: CloseStore;
  readonly store: Pick<WorkingStore, 'load' | 'save'>;
  readonly breaks: Pick<BreakStore, 'findAll' | 'save'>;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly rails: readonly PolledRail[];
  /** The rate at which closes may ask a rail, over all replicas. */
  readonly rateLimitOf: (rail: PolledRail) => ClaimRateLimit;
  readonly schedule: PollSchedule;
  readonly proof: Pick<Evidence, 'lagMs' | 'notFoundGraceMs' | 'pollsBeforeBreak'>;
  /** After how many unclear answers a record's result is `unclear`. */
  readonly triesMax: number;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
}

/** A rail's answer about a payment of a close; `notSent` if our own limits kept us from asking. */
interface Asked<Answer = RailAnswer | NotSent> {
  readonly record: CloseRecord;
  readonly claim: string;
  readonly answer: Answer;
}

const CONCURRENCY = 8;
const BATCH = 50;
const LEASE_FACTOR = 2;
const MARGIN_MS = 5_000;
const LOST = 'the payment is not known here any more';

/**
 * Asks rails about the payments of closes, outside any transaction, and commits the answers: as a poll's answer, which
 * is judged like any other, and as the record's result.
 *
 * A crash between the question and the commit loses nothing: the record is due again after its lease.
 */
export function startAsking(deps: AskingDeps): Loop {
  const answers = deps.messaging.groupCommit<Asked, void>('reconciler.close', (asked, transaction) =>
    commitAnswers(deps, asked, transaction),
  );
  const begin = (railName: string, waits: Condition<string>, rail?: PolledRail): Loop => {
    const workTimeoutMs = (rail?.capabilities.callDeadlineMs ?? 0) + MARGIN_MS;
    return startClaimLoop<CloseRecord>({
      name: `close of ${railName}`,
      collection: deps.closeStore.records,
      open: { waits },
      // By the database's clock, as for polls.
      claimTimeField: 'askedAt',
      // While its circuit is open, or after it has turned a question away, the rail is not asked, and no try is
      // counted.
      ...(rail && { mayClaim: rail.isAvailable, rateLimit: deps.rateLimitOf(rail) }),
      leaseMs: workTimeoutMs * LEASE_FACTOR,
      workTimeoutMs,
      batchMax: BATCH,
      concurrencyMax: CONCURRENCY,
      pauseMs: deps.pauseMs,
      clock: deps.clock,
      ids: deps.ids,
      logger: deps.logger,
      work: async (record, claim) => {
        deps.crashPoint('reconciler.close.before-call');
        const { reference } = record;
        const terms = (await deps.store.load([reference])).get(reference)?.terms;
        const answer = terms
          ? await ask(rail, reference, terms)
          : ({ kind: 'unaskable', why: LOST } as const);
        deps.crashPoint('reconciler.close.after-call');
        await answers.submit({ record, claim, answer });
      },
    });
  };
  const names = deps.rails.map(({ name }) => name);
  const loops = [
    ...deps.rails.map((rail) => begin(rail.name, rail.name, rail)),
    // Rails that are not configured here can't be asked, which people are shown.
    begin('other rails', { $gt: '', $nin: names }),
  ];
  return {
    wake: () => {
      for (const loop of loops) loop.wake();
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()));
    },
  };
}

async function commitAnswers(
  deps: AskingDeps,
  asked: readonly Asked[],
  transaction: Transaction,
): Promise<readonly undefined[]> {
  const { session } = transaction;
  const { records } = deps.closeStore;
  const ids = asked.map(({ record }) => record._id);
  const current = await records.find({ _id: { $in: ids } }, { session }).toArray();
  const claims = new Map(current.map(({ _id, claim }) => [_id, claim]));
  const mine = asked.filter(({ record, claim }) => claims.get(record._id) === claim);
  const references = mine.map(({ record }) => record.reference);
  const loaded = await deps.store.load(references, session);
  const payments = new Map(loaded);
  const found: CloseFinding[] = [];
  const writes: AnyBulkWriteOperation<CloseRecord>[] = [];
  for (const one of mine) {
    const { record, answer } = one;
    if (answer.kind === 'notSent')
      writes.push(toUpdate(record, { dueAt: new Date(deps.clock.nowMs() + answer.retryAfterMs) }));
    else found.push(judged(deps, { ...one, answer }, payments, transaction));
  }
  const now = new Date(deps.clock.nowMs());
  // The answer as a poll's comes first: it is what people look for.
  const reports = [
    ...found.flatMap((one) => one.reports),
    ...found.flatMap((one) => reportsOfRecord(one, now)),
  ];
  await applyReports(deps.breaks, reports, payments, transaction);
  const changed = [...payments.values()].filter((one) => one !== loaded.get(one.reference));
  await deps.store.save(changed, session);
  writes.push(...found.map((finding) => finished(deps, finding)));
  if (writes.length > 0) await records.bulkWrite(writes, { session, ordered: false });
  return asked.map(() => undefined);
}

/** Judges the answer as a poll's, which is noted in the payment, and then as the record's. */
function judged(
  deps: AskingDeps,
  { record, answer }: Asked<RailAnswer>,
  payments: Map<string, Tracked>,
  transaction: Transaction,
): CloseFinding {
  const tracked = payments.get(record.reference);
  const terms = tracked?.terms;
  const tries = record.tries + 1;
  const { triesMax } = deps;
  if (!tracked || !terms) {
    const result = tries >= triesMax ? 'unclear' : 'pending';
    const matching = { result, differences: [], compared: [], theirs: null, why: LOST } as const;
    return { record, ours: null, matching, correctionSent: false, reports: [] };
  }
  const nowMs = deps.clock.nowMs();
  const askedAtMs = record.askedAt?.getTime() ?? nowMs;
  // A close judges ended payments and waits for nothing.
  const asked = { tracked, terms, answer, isScheduled: false, askedAtMs, arrived: null };
  const { verdict, reports, after } = takeAnswer({ ...deps.proof, ...asked }, nowMs, transaction);
  // While there is no result, the rail's stored answer is one that differed.
  const lastReported = record.result === 'pending' ? (record.theirs ?? null) : null;
  const matching = matchRecord({ tracked, terms, answer, verdict, tries, triesMax, lastReported });
  const isCompared = matching.result !== 'pending' && matching.result !== 'unclear';
  payments.set(record.reference, {
    ...after,
    ...untilTaken(tracked, verdict, nowMs),
    ...(isCompared && { uncompared: false }),
  });
  return { record, ours: sideOf(tracked, terms), matching, correctionSent: verdict.fact !== null, reports };
}

/** The record after an answer: with its result, or with the time of the next question. */
function finished(deps: AskingDeps, finding: CloseFinding): AnyBulkWriteOperation<CloseRecord> {
  const { record, ours, matching, correctionSent } = finding;
  const [breakId, ...others] = breaksOfRecord(finding);
  const { result, differences, theirs, why } = matching;
  const isDone = result !== 'pending';
  const pollState = { pollsInRound: record.tries, lagging: false };
  const pauseMs = pauseBeforePoll(deps.schedule, pollState, deps.random.fraction());
  const set = {
    result,
    tries: record.tries + 1,
    differences,
    ...(ours && { ours }),
    ...(theirs && { theirs }),
    ...(why !== null && { why }),
    ...(breakId !== undefined && { breakId }),
    ...(others.length > 0 && { alsoCoveredBy: others }),
    ...(correctionSent && { correctionSent }),
    ...(!isDone && { dueAt: new Date(deps.clock.nowMs() + pauseMs) }),
  };
  return toUpdate(record, set, {
    ...(isDone && { waits: true, dueAt: true }),
    ...(why === null && { why: true }),
  });
}

function toUpdate(
  { _id }: CloseRecord,
  set: Partial<CloseRecord>,
  gone: Partial<Record<'waits' | 'dueAt' | 'why', true>> = {},
): AnyBulkWriteOperation<CloseRecord> {
  return { updateOne: { filter: { _id }, update: { $set: set, $unset: { claim: true, ...gone } } } };
}
