import type { ClaimRateLimit, Messaging, Transaction } from '@pesewa/messaging';
import type { ServiceScope } from '@pesewa/runtime';
import type { BreakStore } from '../breaks/store.ts';
import { knownBefore, matchRecord, reportsOfRecord, sideOf } from '../domain/close.ts';
import type { Evidence } from '../domain/judging.ts';
import { type PollSchedule, pauseBeforePoll, untilTaken } from '../domain/schedule.ts';
import type { Tracked } from '../domain/tracked.ts';
import { type Answered, LOST, startAskLoops } from '../polling/ask-loops.ts';
import type { PolledRail } from '../polling/polled-rail.ts';
import { type Taken, takeAnswer, takeAnswers } from '../polling/take-answer.ts';
import type { WorkingStore } from '../store.ts';
import type { CloseRecord, CloseStore } from './store.ts';

/** The dependencies of asking. */
export interface AskingDeps
  extends Pick<ServiceScope<object>, 'clock' | 'random' | 'ids' | 'logger' | 'crashPoint'> {
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
}

type AskedRecord = Answered<CloseRecord>;

const CONCURRENCY = 8;
const BATCH = 50;

/** Asks rails about the payments of closes, and commits each answer as a poll's and as the record's result. */
export function startAsking(deps: AskingDeps): AsyncDisposable {
  const answers = deps.messaging.groupCommit<AskedRecord, void>('reconciler.close', (answered, transaction) =>
    commitAnswers(deps, answered, transaction),
  );
  return startAskLoops<CloseRecord>(deps, {
    name: 'reconciler.close',
    beforeCall: () => deps.crashPoint('reconciler.close.before-call'),
    afterCall: () => deps.crashPoint('reconciler.close.after-call'),
    collection: deps.closeStore.records,
    railField: 'waits',
    limitsOf: (rail) => ({
      batchMax: BATCH,
      concurrencyMax: CONCURRENCY,
      ...(rail && { rateLimit: deps.rateLimitOf(rail) }),
    }),
    paymentOf: async ({ reference }) => {
      const payment = (await deps.store.load([reference])).get(reference);
      return payment ?? { reference, terms: null, traceparent: null };
    },
    commit: answers.submit,
  });
}

async function commitAnswers(
  deps: AskingDeps,
  answered: readonly AskedRecord[],
  transaction: Transaction,
): Promise<readonly undefined[]> {
  const { session } = transaction;
  const { records } = deps.closeStore;
  const ids = answered.map(({ row }) => row._id);
  const current = new Map(
    (await records.find({ _id: { $in: ids } }, { session }).toArray()).map((one) => [one._id, one]),
  );
  const mine = answered.flatMap((one) => {
    const row = current.get(one.row._id);
    return row?.claim === one.claim ? [{ ...one, row }] : [];
  });
  const judged: CloseRecord[] = [];
  const take = (one: AskedRecord, tracked: Tracked | undefined) => {
    const { record, taken } = judge(deps, one, tracked, transaction);
    judged.push(record);
    return taken;
  };
  await takeAnswers(deps, mine, take, transaction);
  const writes = judged.map(({ _id, ...replacement }) => ({ replaceOne: { filter: { _id }, replacement } }));
  if (writes.length > 0) await records.bulkWrite(writes, { session, ordered: false });
  return answered.map(() => undefined);
}

/**
 * Judges an answer as a poll's, which is noted in the payment, and as the record's, which gets its result or the time of
 * the next question.
 */
function judge(
  deps: AskingDeps,
  { row, answer, askedAtMs }: AskedRecord,
  tracked: Tracked | undefined,
  transaction: Transaction,
): { readonly record: CloseRecord; readonly taken?: Taken } {
  const { triesMax, schedule, random } = deps;
  const nowMs = deps.clock.nowMs();
  const { claim: _claim, ...unclaimed } = row;
  if (answer.kind === 'notSent')
    return { record: { ...unclaimed, dueAt: new Date(nowMs + answer.retryAfterMs) } };
  const { waits, dueAt: _dueAt, why: _why, ...kept } = unclaimed;
  const terms = tracked?.terms;
  const known = knownBefore(row);
  if (!tracked || !terms) {
    const unclear = { result: 'unclear', differences: [] } as const;
    return { record: { ...kept, why: LOST.why, ...(!known.hasCounted && unclear) } };
  }
  // A close judges ended payments and waits for nothing.
  const asked = { tracked, terms, answer, isScheduled: false, askedAtMs, arrived: null };
  const { verdict, reports, after } = takeAnswer({ ...deps.proof, ...asked }, nowMs, transaction);
  const tries = row.tries + 1;
  const matching = matchRecord({ tracked, terms, answer, verdict, tries, triesMax, ...known });
  const { result, differences, theirs, why } = matching;
  const ours = sideOf(tracked, terms);
  const isCompared = result !== 'pending' && result !== 'unclear';
  const said = isCompared ? reportsOfRecord(row, ours, matching, new Date(nowMs)) : [];
  const pause = { pollsInRound: row.tries, lagging: false };
  return {
    record: {
      ...kept,
      result,
      tries,
      differences,
      ours,
      ...(theirs && { theirs }),
      ...(why !== null && { why }),
      ...(verdict.fact !== null && { correctionSent: true }),
      ...(result === 'pending' && {
        ...(waits !== undefined && { waits }),
        dueAt: new Date(nowMs + pauseBeforePoll(schedule, pause, random.fraction())),
      }),
    },
    taken: {
      after: { ...after, ...untilTaken(tracked, verdict, nowMs), ...(isCompared && { uncompared: false }) },
      // The answer as a poll's comes first: it is what people look for.
      reports: [...reports, ...said],
    },
  };
}
