import type { Clock } from '@pesewa/kernel';
import {
  type Loop,
  leasesOf,
  type Messaging,
  startLoop,
  type Transaction,
  takeLease,
} from '@pesewa/messaging';
import type { Logger, ReportProcessed } from '@pesewa/runtime';
import { applyReports, type BreakReport } from '../breaks/reports.ts';
import type { BreakStore } from '../breaks/store.ts';
import { judgeBooks } from '../domain/books.ts';
import type { OwnerRecord } from '../domain/coverage.ts';
import { toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import type { Tracked } from '../domain/tracked.ts';
import type { WorkingStore } from '../store.ts';
import type { WorkingSet } from '../working-set.ts';
import {
  type FollowedStep,
  findingOf,
  follow,
  found,
  isAsked,
  lookFromMs,
  type Overdue,
  placeOf,
  resolutionOf,
  type StepLimits,
  stepKinds,
  stillStands,
} from './following.ts';
import type { GatewayRecords } from './gateway-records.ts';
import { createLevel, type LevelDeps } from './level.ts';
import type { RequestRepublication } from './request.ts';
import { type StepStore, stepId } from './store.ts';
import type { StepWatch } from './watches.ts';

/** The dependencies of following steps. */
export interface StepDeps extends StepLimits {
  readonly watches: readonly StepWatch[];
  readonly stepStore: StepStore;
  readonly records: readonly GatewayRecords[];
  readonly store: Pick<WorkingStore, 'load' | 'save'>;
  readonly workingSet: Pick<WorkingSet, 'apply'>;
  readonly breaks: Pick<BreakStore, 'findAll' | 'save'>;
  readonly messaging: Pick<Messaging, 'db' | 'owner' | 'groupCommit'> & LevelDeps['messaging'];
  readonly onItsWay: LevelDeps['onItsWay'];
  readonly requestRepublication: RequestRepublication;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is written: a newly found overdue step, or one that was checked again. */
type Item = Pick<StepLimits, 'limitMs'> &
  (
    | { readonly kind: 'found'; readonly overdue: Overdue }
    | {
        readonly kind: 'observed';
        readonly step: FollowedStep;
        readonly stands: boolean;
        /** The record of a payment that is still unknown, or still open, here. */
        readonly record?: OwnerRecord | undefined;
      }
  );

const LEASE = { name: 'steps', durationMs: 15_000 } as const;
const BATCH = 200;

/**
 * Finds payments at a step of ours for too long, asks their owners to publish again what their records prove, and shows
 * people where that does not help (ADR 27); breaks over entries are closed by the events that come later.
 *
 * Each payment is checked when its longest time is over: a payment in order has moved on by then and costs one read at
 * most. A step counts as overdue only after everything that could still complete it has been applied. One replica
 * checks at a time; if two overlap, they find the same and write it once.
 */
export function startSteps(deps: StepDeps): Loop {
  const { messaging, clock, pauseMs, logger } = deps;
  const writing = messaging.groupCommit<Item, void>('reconciler.steps', async (items, transaction) => {
    await write(deps, items, transaction);
    return items.map(() => undefined);
  });
  const submit = (items: readonly Item[]) => Promise.all(items.map(writing.submit));
  const looks = deps.watches.map((watch) => ({
    watch,
    level: createLevel(deps, watch.hops),
  }));
  return startLoop({
    name: 'reconciler steps',
    pauseMs,
    clock,
    logger,
    round: async (signal, processed) => {
      if (!(await takeLease(leasesOf(messaging.db), { ...LEASE, owner: messaging.owner }))) return false;
      for (const { watch, level } of looks) {
        const levelAtMs = await level();
        if (levelAtMs === undefined) continue;
        // One gateway's database must not delay the others' payments.
        await lookAt({ ...deps, watch, submit, processed, signal, levelAtMs }).catch((error: unknown) =>
          logger.error(
            { err: error, watch: watch.name },
            'steps could not be looked at; the next round does',
          ),
        );
      }
      return false;
    },
  });
}

/** A check of one watch's payments. */
interface Look extends StepDeps {
  readonly watch: StepWatch;
  readonly submit: (items: readonly Item[]) => Promise<unknown>;
  readonly processed: ReportProcessed;
  readonly signal: AbortSignal;
  /** Everything that was in Kafka then has arrived. */
  readonly levelAtMs: number;
}

async function lookAt({
  watch,
  stepStore,
  submit,
  processed,
  signal,
  levelAtMs,
  ...deps
}: Look): Promise<void> {
  const { limitMs = deps.limitMs, overdueAfterMs = limitMs } = watch;
  const to = new Date(levelAtMs - overdueAfterMs);
  const mark = await stepStore.mark(watch.name, new Date(deps.clock.nowMs()));
  const from = new Date(lookFromMs(mark.until.getTime(), limitMs));
  for await (const { overdue, until } of watch.look(from, to)) {
    await submit(overdue.map((one) => ({ kind: 'found', overdue: one, limitMs })));
    processed(overdue.length);
    await stepStore.setMark(mark, until);
    signal.throwIfAborted();
  }
  const isWhole = mark.wholeAt !== undefined && mark.wholeAt > mark.askedAt;
  await stepStore.setMark(mark, to, isWhole ? undefined : new Date(deps.clock.nowMs()));
  let due: readonly FollowedStep[];
  do {
    due = await stepStore.due(watch, new Date(levelAtMs), BATCH);
    const standing = new Set(due.length > 0 ? await watch.standing(due) : []);
    const records = await recordsOf(deps, [...standing]);
    await submit(
      due.map((step) => {
        const record = records.get(step.reference);
        return { kind: 'observed', step, stands: standing.has(step), record, limitMs };
      }),
    );
    processed(due.length);
  } while (due.length === BATCH && !signal.aborted);
}

/** The records of payments that are unknown or open here although their owners were asked repeatedly. */
async function recordsOf(
  { records, requestsMax }: Pick<StepDeps, 'records' | 'requestsMax'>,
  standing: readonly FollowedStep[],
) {
  const found = new Map<string, OwnerRecord>();
  const lacking = standing.filter(
    ({ step, requests }) => (step === 'opening' || step === 'end') && requests >= requestsMax,
  );
  for (const gateway of records) {
    const own = lacking.filter(({ kind }) => kind === gateway.kind).map(({ reference }) => reference);
    if (own.length > 0)
      for (const [reference, record] of await gateway.find(own)) found.set(reference, record);
  }
  return found;
}

async function write(deps: StepDeps, items: readonly Item[], transaction: Transaction): Promise<void> {
  const { store, stepStore, requestRepublication, clock } = deps;
  const { session } = transaction;
  const now = new Date(clock.nowMs());
  const named = items.map((item) => (item.kind === 'found' ? item.overdue : item.step));
  const known = await stepStore.load(named, session);
  const payments = new Map(
    await store.load(
      named.map(({ reference }) => reference),
      session,
    ),
  );
  const kept = new Map<string, FollowedStep>();
  const done: FollowedStep[] = [];
  const reports: BreakReport[] = [];
  const taken: OwnerRecord[] = [];
  const keep = (step: FollowedStep) => {
    kept.set(stepId(step), step);
    const { reference, kind } = step;
    if (isAsked(step.step) && step.requests > 0)
      requestRepublication({ reference, kind, step: step.step }, transaction);
  };
  for (const item of items) {
    const limits = { limitMs: item.limitMs, requestsMax: deps.requestsMax };
    if (item.kind === 'found') {
      const { overdue } = item;
      const id = stepId(overdue);
      const before = known.get(id);
      if (before && isShownAgain(before, payments.get(before.reference)))
        reports.push(...reportsOf(before, payments.get(before.reference), now));
      const isNew = overdue.step === 'entry' ? takeEntry(payments, overdue) : !known.has(id) && !kept.has(id);
      if (isNew) keep(found(overdue, limits, now));
      continue;
    }
    const { step, stands, record } = item;
    // Another replica has checked it meanwhile.
    if (known.get(stepId(step))?.dueAt.getTime() !== step.dueAt.getTime()) continue;
    const tracked = payments.get(step.reference);
    if (!stands || !stillStands(step, tracked)) {
      done.push(step);
      if (step.isReported && step.step !== 'entry') {
        const gone = { kind: stepKinds[step.step], resolution: resolutionOf(step, tracked) };
        reports.push(toWithdrawal(step.reference, gone, now));
      }
    } else if (record) {
      done.push(step);
      taken.push(record);
    } else {
      const next = follow(step, limits, now);
      keep(next);
      if (next.isReported && !step.isReported) reports.push(...reportsOf(next, tracked, now));
    }
  }
  await stepStore.save([...kept.values()], done, session);
  await applyReports(deps.breaks, reports, payments, transaction);
  await store.save([...payments.values()], session);
  await takeFromRecords(deps, taken, transaction);
}

/** Whether a payment still lacks an entry that nobody was asked for; notes that it is followed from now on. */
function takeEntry(payments: Map<string, Tracked>, { reference }: Overdue): boolean {
  const tracked = payments.get(reference);
  if (!tracked || tracked.booksDueAtMs === null) return false;
  payments.set(reference, { ...tracked, booksDueAtMs: null });
  const finding = judgeBooks(tracked);
  return finding !== undefined && !tracked.breaks.includes(finding.kind);
}

function reportsOf(step: FollowedStep, tracked: Tracked | undefined, now: Date): readonly BreakReport[] {
  const finding = findingOf(step, tracked);
  return finding ? [toFoundBreak(step.reference, finding, placeOf(tracked), now)] : [];
}

/** Whether people have resolved the break of a step that an audit finds again. */
function isShownAgain({ step, isReported }: FollowedStep, tracked: Tracked | undefined): boolean {
  return isReported && step !== 'entry' && tracked?.breaks.includes(stepKinds[step]) === false;
}

/** Takes openings and ends that never came from the gateways' records, each with a break. */
async function takeFromRecords(
  { workingSet }: StepDeps,
  taken: readonly OwnerRecord[],
  transaction: Transaction,
): Promise<void> {
  const name = 'the record of its gateway';
  const observed = taken.map((record) => ({
    reference: record.reference,
    eventId: null,
    observation: { kind: 'audited', name, record } as const,
  }));
  await workingSet.apply(observed, transaction);
}
