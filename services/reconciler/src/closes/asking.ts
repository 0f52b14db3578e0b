import {
  type ClaimRateLimit,
  type Loop,
  type Messaging,
  startClaimLoop,
  type Transaction,
} from '@pesewa/messaging';
import type { NotSent } from '@pesewa/rails';
import type { ServiceScope } from '@pesewa/runtime';
import type { AnyBulkWriteOperation, Condition } from 'mongodb';
import { applyReports, type BreakReport } from '../breaks/reports.ts';
import type { BreakStore } from '../breaks/store.ts';
import { matchRecord, reportsOfRecord, sideOf } from '../domain/close.ts';
import type { Evidence, RailAnswer } from '../domain/judging.ts';
import { breakId } from '../domain/observing.ts';
import { type PollSchedule, pauseBeforePoll, untilTaken } from '../domain/schedule.ts';
import type { Terms, Tracked } from '../domain/tracked.ts';
import { ask, type PolledRail } from '../polling/polled-rail.ts';
import { takeAnswer } from '../polling/take-answer.ts';
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

/** A rail's answer about a payment of a close; `notSent` if our own limits kept us from asking. */
interface Asked {
  readonly record: CloseRecord;
  readonly claim: string;
  readonly answer: RailAnswer | NotSent;
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
export function startAsking(deps: AskingDeps): AsyncDisposable {
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
  const reports: BreakReport[] = [];
  const writes: AnyBulkWriteOperation<CloseRecord>[] = [];
  for (const { record, answer } of mine) {
    const tracked = payments.get(record.reference);
    const terms = tracked?.terms;
    if (answer.kind === 'notSent')
      writes.push(toUpdate(record, { dueAt: new Date(deps.clock.nowMs() + answer.retryAfterMs) }));
    else if (!tracked || !terms)
      writes.push(
        toUpdate(record, { result: 'unclear', why: LOST, differences: [] }, { waits: true, dueAt: true }),
      );
    else {
      const judged = judge(deps, { record, answer, tracked, terms }, transaction);
      payments.set(record.reference, judged.after);
      reports.push(...judged.reports);
      writes.push(judged.write);
    }
  }
  await applyReports(deps.breaks, reports, payments, transaction);
  const changed = [...payments.values()].filter((one) => one !== loaded.get(one.reference));
  await deps.store.save(changed, session);
  if (writes.length > 0) await records.bulkWrite(writes, { session, ordered: false });
  return asked.map(() => undefined);
}

/**
 * Judges an answer as a poll's, which is noted in the payment, and as the record's, which gets its result or the time of
 * the next question.
 */
function judge(
  deps: AskingDeps,
  {
    record,
    answer,
    tracked,
    terms,
  }: {
    readonly record: CloseRecord;
    readonly answer: RailAnswer;
    readonly tracked: Tracked;
    readonly terms: Terms;
  },
  transaction: Transaction,
) {
  const { triesMax, schedule, random } = deps;
  const nowMs = deps.clock.nowMs();
  const askedAtMs = record.askedAt?.getTime() ?? nowMs;
  // A close judges ended payments and waits for nothing.
  const asked = { tracked, terms, answer, isScheduled: false, askedAtMs, arrived: null };
  const { verdict, reports, after } = takeAnswer({ ...deps.proof, ...asked }, nowMs, transaction);
  const tries = record.tries + 1;
  // While there is no result, the rail's stored answer is one that differed.
  const lastReported = record.result === 'pending' ? (record.theirs ?? null) : null;
  const matching = matchRecord({ tracked, terms, answer, verdict, tries, triesMax, lastReported });
  const { result, differences, theirs, why } = matching;
  const ours = sideOf(tracked, terms);
  const isDone = result !== 'pending';
  const isCompared = isDone && result !== 'unclear';
  const said = isCompared ? reportsOfRecord(record, ours, matching, new Date(nowMs)) : NOTHING_SAID;
  const [covers, ...others] = said.found.map(({ reference, field }) => breakId(reference, field));
  const pauseMs = pauseBeforePoll(
    schedule,
    { pollsInRound: record.tries, lagging: false },
    random.fraction(),
  );
  const set: Partial<CloseRecord> = {
    result,
    tries,
    differences,
    ours,
    ...(theirs && { theirs }),
    ...(why !== null && { why }),
    ...(covers !== undefined && { breakId: covers }),
    ...(others.length > 0 && { alsoCoveredBy: others }),
    ...(verdict.fact !== null && { correctionSent: true }),
    ...(!isDone && { dueAt: new Date(nowMs + pauseMs) }),
  };
  const over = isDone && ({ waits: true, dueAt: true } as const);
  const gone = { ...over, ...(why === null && { why: true as const }) };
  return {
    after: { ...after, ...untilTaken(tracked, verdict, nowMs), ...(isCompared && { uncompared: false }) },
    // The answer as a poll's comes first: it is what people look for.
    reports: [...reports, ...said.found, ...said.gone],
    write: toUpdate(record, set, gone),
  };
}

const NOTHING_SAID = { found: [], gone: [] };

function toUpdate(
  { _id }: CloseRecord,
  set: Partial<CloseRecord>,
  gone: Partial<Record<'waits' | 'dueAt' | 'why', true>> = {},
): AnyBulkWriteOperation<CloseRecord> {
  return { updateOne: { filter: { _id }, update: { $set: set, $unset: { claim: true, ...gone } } } };
}
