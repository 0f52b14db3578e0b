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
import type { BreakKind } from '../domain/break-kinds.ts';
import type { OwnerRecord } from '../domain/coverage.ts';
import { toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import type { Tracked } from '../domain/tracked.ts';
import type { WorkingStore } from '../store.ts';
import type { WorkingSet } from '../working-set.ts';
import type { Arrivals } from './arrivals.ts';
import {
  type FollowedStep,
  findingOf,
  follow,
  found,
  isAsked,
  lookFromMs,
  type Overdue,
  placeOf,
  type StepLimits,
  stepKinds,
} from './following.ts';
import type { RequestRepublication } from './request.ts';
import { type StepStore, stepId } from './store.ts';
import type { StepWatch } from './watches.ts';

/** The dependencies of following steps. */
export interface StepDeps extends StepLimits, Pick<Arrivals, 'arrivedUntilMs'> {
  readonly watches: readonly StepWatch[];
  readonly stepStore: StepStore;
  readonly store: Pick<WorkingStore, 'load' | 'save'>;
  readonly workingSet: Pick<WorkingSet, 'apply'>;
  readonly breaks: Pick<BreakStore, 'findAll' | 'save'>;
  readonly messaging: Pick<Messaging, 'db' | 'owner' | 'groupCommit'>;
  readonly requestRepublication: RequestRepublication;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is written: a newly found overdue step, or one that was checked again. */
type Item =
  | { readonly overdue: Overdue; readonly step?: never }
  | {
      readonly step: FollowedStep;
      readonly stands: boolean;
      /** The payment in its gateway's records, if that was read. */
      readonly record: OwnerRecord | undefined;
    };

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
  const { messaging, logger, arrivedUntilMs } = deps;
  const writing = messaging.groupCommit<Item, void>('reconciler.steps', async (items, transaction) => {
    await write(deps, items, transaction);
    return items.map(() => undefined);
  });
  return startLoop({
    ...deps,
    name: 'reconciler steps',
    round: async (signal, processed) => {
      if (!(await takeLease(leasesOf(messaging.db), { ...LEASE, owner: messaging.owner }))) return false;
      for (const watch of deps.watches) {
        const untilMs = arrivedUntilMs(watch.kind);
        if (untilMs === undefined) continue;
        // One gateway's database must not delay the others' payments.
        await lookAt(deps, watch, untilMs, { submit: writing.submit, processed, signal }).catch(
          (error: unknown) =>
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

/** Looks at the payments of a watch, of which everything that was on its way until a time has arrived. */
async function lookAt(
  { stepStore, clock, ...deps }: StepDeps,
  watch: StepWatch,
  untilMs: number,
  round: {
    readonly submit: (item: Item) => Promise<unknown>;
    readonly processed: ReportProcessed;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { limitMs } = deps;
  const submit = async (items: readonly Item[]) => {
    await Promise.all(items.map(round.submit));
    round.processed(items.length);
  };
  const to = new Date(untilMs - (watch.overdueAfterMs ?? limitMs));
  for (const [name, look] of Object.entries(watch.looks)) {
    const mark = await stepStore.mark(name, new Date(clock.nowMs()));
    const from = new Date(lookFromMs(mark.until.getTime(), limitMs));
    for await (const { overdue, until } of look(from, to)) {
      await submit(overdue.map((one) => ({ overdue: one })));
      await stepStore.setMark(mark, until);
      if (round.signal.aborted) return;
    }
    const isWhole = mark.wholeAt !== undefined && mark.wholeAt > mark.askedAt;
    await stepStore.setMark(mark, to, isWhole ? undefined : new Date(clock.nowMs()));
  }
  let due: readonly FollowedStep[];
  do {
    due = await stepStore.due(watch, new Date(untilMs), BATCH);
    const standing = due.length > 0 ? await watch.standing(due) : new Map<FollowedStep, undefined>();
    await submit(due.map((step) => ({ step, stands: standing.has(step), record: standing.get(step) })));
  } while (due.length === BATCH && !round.signal.aborted);
}

async function write(deps: StepDeps, items: readonly Item[], transaction: Transaction): Promise<void> {
  const { store, stepStore, requestRepublication, clock, requestsMax } = deps;
  const { session } = transaction;
  const now = new Date(clock.nowMs());
  const named = items.map((item) => item.step ?? item.overdue);
  const known = await stepStore.load(named, session);
  const references = named.map(({ reference }) => reference);
  const payments = new Map(await store.load(references, session));
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
  const report = (step: FollowedStep) => {
    const tracked = payments.get(step.reference);
    const finding = findingOf(step, tracked);
    if (finding) reports.push(toFoundBreak(step.reference, finding, placeOf(tracked), now));
  };
  for (const item of items) {
    const id = stepId(item.step ?? item.overdue);
    const before = known.get(id);
    if (!item.step) {
      const { overdue } = item;
      const isEntry = overdue.step === 'entry';
      const step = found(overdue, deps, now);
      // People may have resolved its break, which an audit opens again; what stands is no news.
      if (before?.isReported && isBreakGone(payments, overdue)) report(before);
      const lacks = isEntry ? takeEntry(payments, overdue) : undefined;
      const isNew = isEntry ? lacks !== undefined : !before && !kept.has(id);
      // What only a callback names may be nobody's: there is nothing to publish, and nothing was lost.
      if (lacks === 'callback.unknown_reference') report(step);
      else if (isNew) keep(step);
      continue;
    }
    const { step, stands, record } = item;
    // Another replica has checked it meanwhile.
    if (before?.dueAt.getTime() !== step.dueAt.getTime()) continue;
    const isLacking = (step.step === 'opening' || step.step === 'end') && step.requests >= requestsMax;
    if (!stands) {
      done.push(step);
      if (step.isReported && step.step !== 'entry') {
        const resolution = 'the step is done: the missing event has arrived';
        reports.push(toWithdrawal(step.reference, { kind: stepKinds[step.step], resolution }, now));
      }
    } else if (isLacking && record) {
      done.push(step);
      taken.push(record);
    } else {
      const next = follow(step, deps, now);
      keep(next);
      if (next.isReported && !step.isReported) report(next);
    }
  }
  await stepStore.save([...kept.values()], done, session);
  await applyReports(deps.breaks, reports, payments, transaction);
  await store.save([...payments.values()], session);
  // Openings and ends that never came are taken from the gateways' records, each with a break.
  const name = 'the record of its gateway';
  const observed = taken.map((record) => ({
    reference: record.reference,
    eventId: null,
    observation: { kind: 'audited', name, record } as const,
  }));
  await deps.workingSet.apply(observed, transaction);
}

/** Whether people have resolved the break of a payment's step, as far as the payment shows it. */
function isBreakGone(payments: ReadonlyMap<string, Tracked>, { reference, step }: Overdue): boolean {
  return step !== 'entry' && payments.get(reference)?.breaks.includes(stepKinds[step]) === false;
}

/** How a payment still differs from its entries, if nobody was told or asked; notes that this is done from now on. */
function takeEntry(payments: Map<string, Tracked>, { reference }: Overdue): BreakKind | undefined {
  const tracked = payments.get(reference);
  if (!tracked || tracked.booksDueAtMs === null) return undefined;
  payments.set(reference, { ...tracked, booksDueAtMs: null });
  const finding = judgeBooks(tracked);
  return finding && !tracked.breaks.includes(finding.kind) ? finding.kind : undefined;
}
