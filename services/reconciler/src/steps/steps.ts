import type { Clock } from '@pesewa/kernel';
import {
  type Loop,
  leasesOf,
  type Messaging,
  startLoop,
  type Transaction,
  takeLease,
} from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import { commitEach } from '../batches.ts';
import { applyReports, type BreakReport } from '../breaks/reports.ts';
import type { BreakStore } from '../breaks/store.ts';
import type { OwnerRecord } from '../domain/coverage.ts';
import type { Finding } from '../domain/judging.ts';
import { toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import type { WorkingStore } from '../store.ts';
import type { WorkingSet } from '../working-set.ts';
import type { Arrivals } from './arrivals.ts';
import {
  type FollowedStep,
  findingOf,
  follow,
  found,
  isAsked,
  isResolved,
  lookFromMs,
  type NamedStep,
  type Overdue,
  placeOf,
  type Step,
  stepKinds,
} from './following.ts';
import type { RequestRepublication } from './request.ts';
import { type StepStore, stepId } from './store.ts';
import type { StepWatch } from './watches.ts';

/** The dependencies of following steps. */
export interface StepDeps extends Pick<Arrivals, 'arrivedUntilMs'> {
  readonly watches: readonly StepWatch[];
  readonly stepStore: StepStore;
  readonly store: Pick<WorkingStore, 'load' | 'save'>;
  readonly workingSet: Pick<WorkingSet, 'apply'>;
  readonly breaks: Pick<BreakStore, 'findAll' | 'save'>;
  readonly messaging: Pick<Messaging, 'db' | 'owner' | 'groupCommit'>;
  readonly requestRepublication: RequestRepublication;
  /** After how many requests without effect a break is opened. */
  readonly requestsMax: number;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A page of payments that were looked at, or whose followed steps were due. */
interface Page extends Pick<StepWatch, 'limitMs'> {
  /** Those that have been at a step for too long. */
  readonly overdue: readonly Overdue[];
  /** The followed steps that were due; undefined of a look. */
  readonly due?: readonly FollowedStep[];
}

const LEASE = { name: 'steps', durationMs: 15_000 } as const;
const BATCH = 200;
/** Why a reported step is shown no more. */
const DONE = 'the step is done: the missing event has arrived';

/**
 * Finds payments at a step of ours for too long, asks their owners to publish again what their records prove, and shows
 * people where that does not help (ADR 27); breaks over entries are closed by the events that come later.
 *
 * Each payment is checked when its longest time is over: a payment in order has moved on by then and costs one read at
 * most. A step counts as overdue only after everything that could still complete it has been applied. One replica
 * checks at a time; if two overlap, they find the same and write it once.
 */
export function startSteps(deps: StepDeps): Loop {
  const { messaging, logger, arrivedUntilMs } = deps;
  const commit = commitEach(messaging, 'reconciler.steps', (page: Page, transaction) =>
    write(deps, page, transaction),
  );
  return startLoop({
    ...deps,
    name: 'reconciler steps',
    round: async (signal, processed) => {
      if (!(await takeLease(leasesOf(messaging.db), { ...LEASE, owner: messaging.owner }))) return false;
      const take = async (page: Page) => {
        const { overdue, due = overdue } = page;
        if (due.length > 0) await commit(page);
        processed(due.length);
      };
      for (const watch of deps.watches) {
        const untilMs = arrivedUntilMs(watch.kind);
        if (untilMs === undefined) continue;
        // One gateway's database must not delay the others' payments.
        await check(deps, watch, untilMs, { take, signal }).catch((error: unknown) =>
          logger.error(
            { err: error, watch: Object.keys(watch.looks) },
            'steps could not be looked at; the next round does',
          ),
        );
      }
      return false;
    },
  });
}

/** Checks the payments of a watch, of which everything that was on its way until a time has arrived. */
async function check(
  { stepStore, clock }: StepDeps,
  watch: StepWatch,
  untilMs: number,
  round: { readonly take: (page: Page) => Promise<void>; readonly signal: AbortSignal },
): Promise<void> {
  const { limitMs, judge } = watch;
  const to = new Date(untilMs - watch.overdueAfterMs);
  for (const [name, look] of Object.entries(watch.looks)) {
    const mark = await stepStore.mark(name, new Date(clock.nowMs()));
    const from = new Date(lookFromMs(mark.until.getTime(), limitMs));
    for await (const { references, until } of look(from, to)) {
      await round.take({ limitMs, overdue: await judge(references) });
      await stepStore.setMark(mark, until);
      if (round.signal.aborted) return;
    }
    const isWhole = mark.wholeAt !== undefined && mark.wholeAt > mark.askedAt;
    await stepStore.setMark(mark, to, isWhole ? undefined : new Date(clock.nowMs()));
  }
  let due: readonly FollowedStep[];
  do {
    due = await stepStore.due(watch, new Date(untilMs), BATCH);
    const overdue = due.length > 0 ? await judge(due.map(({ reference }) => reference)) : [];
    await round.take({ limitMs, overdue, due });
  } while (due.length === BATCH && !round.signal.aborted);
}

async function write(deps: StepDeps, page: Page, transaction: Transaction): Promise<void> {
  const { store, stepStore, requestsMax } = deps;
  const { limitMs, overdue, due = [] } = page;
  const { session } = transaction;
  const now = new Date(deps.clock.nowMs());
  const named = page.due ?? overdue;
  const known = await stepStore.load(named, session);
  const references = named.map(({ reference }) => reference);
  const payments = new Map(await store.load(references, session));
  const kept: FollowedStep[] = [];
  const done: FollowedStep[] = [];
  const reports: BreakReport[] = [];
  const taken: OwnerRecord[] = [];
  const report = ({ reference }: NamedStep, finding: Finding) =>
    reports.push(toFoundBreak(reference, finding, placeOf(payments.get(reference)), now));
  for (const one of page.due ? [] : overdue) {
    const tracked = payments.get(one.reference);
    const before = known.get(stepId(one));
    const step = found(one, limitMs, now);
    const finding = findingOf(step, tracked);
    // What is followed is looked at no more.
    if (one.step === 'entry' && tracked) payments.set(one.reference, { ...tracked, booksDueAtMs: null });
    if (!finding || (before && !isResolved(before, tracked))) continue;
    // What only a callback names may be nobody's: there is nothing to publish, and nothing was lost.
    if (finding.kind === 'callback.unknown_reference') report(one, finding);
    else kept.push(step);
  }
  const standing = new Map(overdue.map((one) => [stepId(one), one]));
  for (const step of due) {
    const tracked = payments.get(step.reference);
    const one = standing.get(stepId(step));
    // Another replica has checked it meanwhile.
    if (known.get(stepId(step))?.dueAt.getTime() !== step.dueAt.getTime()) continue;
    if (!one || isResolved(step, tracked)) {
      done.push(step);
      if (!one && step.isReported && step.step !== 'entry')
        reports.push(toWithdrawal(step.reference, { kind: stepKinds[step.step], resolution: DONE }, now));
    } else if (isGap(step.step) && one.record && step.requests >= requestsMax) {
      done.push(step);
      taken.push(one.record);
    } else {
      const next = follow(step, { limitMs, requestsMax }, now);
      const finding = findingOf(next, tracked);
      kept.push(next);
      if (finding && next.isReported && !step.isReported) report(next, finding);
    }
  }
  for (const { reference, kind, step, requests } of kept)
    if (isAsked(step) && requests > 0) deps.requestRepublication({ reference, kind, step }, transaction);
  await stepStore.save(kept, done, session);
  await applyReports(deps.breaks, reports, payments, transaction);
  await store.save([...payments.values()], session);
  // Openings and ends that never came are taken from the gateways' records, each with a break.
  const observed = taken.map((record) => ({
    reference: record.reference,
    eventId: null,
    observation: { kind: 'audited', name: 'the record of its gateway', record } as const,
  }));
  await deps.workingSet.apply(observed, transaction);
}

const isGap = (step: Step) => step === 'opening' || step === 'end';
