import type { Clock } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import { commitEach } from '../batches.ts';
import { applyReports, type BreakReport } from '../breaks/reports.ts';
import type { BreakStore } from '../breaks/store.ts';
import { judgeBooks } from '../domain/books.ts';
import type { OwnerRecord } from '../domain/coverage.ts';
import type { Finding } from '../domain/judging.ts';
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
  isResolved,
  type NamedStep,
  type Overdue,
  placeOf,
  type Step,
  stepKinds,
} from './following.ts';
import type { RequestRepublication } from './request.ts';
import { type StepStore, stepId } from './store.ts';
import type { StepWatch } from './watches.ts';

/** The dependencies of writing pages. */
export interface PageDeps {
  readonly stepStore: Pick<StepStore, 'load' | 'save'>;
  readonly store: Pick<WorkingStore, 'load' | 'save'>;
  readonly workingSet: Pick<WorkingSet, 'apply'>;
  readonly breaks: Pick<BreakStore, 'findAll' | 'save'>;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly requestRepublication: RequestRepublication;
  /** After how many requests without effect a break is opened. */
  readonly requestsMax: number;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** A page of payments that were looked at, or whose followed steps were due. */
export interface Page extends Pick<StepWatch, 'limitMs'> {
  /** Those that have been at a step for too long. */
  readonly overdue: readonly Overdue[];
  /** The followed steps that were due; undefined of a look. */
  readonly due?: readonly FollowedStep[];
  /** The payments whose entries were looked at; none of another look. */
  readonly compared?: readonly string[];
}

/** What a page gives, as far as it is known. */
interface Outcome extends Pick<PageDeps, 'requestsMax'>, Pick<Page, 'limitMs'> {
  readonly now: Date;
  /** The followed steps by their ids, before. */
  readonly known: ReadonlyMap<string, FollowedStep>;
  readonly payments: Map<string, Tracked>;
  readonly kept: FollowedStep[];
  readonly done: FollowedStep[];
  readonly reports: BreakReport[];
  readonly taken: OwnerRecord[];
}

/** Why a reported step is shown no more. */
const DONE = 'the step is done: the missing event has arrived';

/**
 * Builds what writes a page in one transaction. If that fails, each payment of the page is written alone, so that one that
 * can't be written does not hold up the others; the page fails all the same.
 */
export function createPages(deps: PageDeps): (page: Page, signal: AbortSignal) => Promise<void> {
  const commit = commitEach(deps.messaging, 'reconciler.steps', (page: Page, transaction) =>
    write(deps, page, transaction),
  );
  return async (page, signal) => {
    const references = [...new Set(referencesOf(page))];
    if (references.length === 0) return;
    const failure = await failureOf(commit(page));
    if (!failure) return;
    if (references.length === 1) throw failure.error;
    const failures: { readonly error: unknown }[] = [];
    for (const reference of references) {
      if (signal.aborted) throw failure.error;
      const alone = await failureOf(commit(pageOf(reference, page)));
      if (alone) failures.push(alone);
    }
    if (failures[0]) throw failures[0].error;
  };
}

const failureOf = (work: Promise<void>) =>
  work.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );

function referencesOf({ overdue, due, compared = [] }: Page): readonly string[] {
  const named: readonly NamedStep[] = due ?? overdue;
  return [...named.map(({ reference }) => reference), ...compared];
}

/** What a page has of one payment. */
function pageOf(reference: string, { limitMs, overdue, due, compared }: Page): Page {
  const isIt = (one: NamedStep) => one.reference === reference;
  return {
    limitMs,
    overdue: overdue.filter(isIt),
    ...(due && { due: due.filter(isIt) }),
    ...(compared && { compared: compared.filter((one) => one === reference) }),
  };
}

async function write(deps: PageDeps, page: Page, transaction: Transaction): Promise<void> {
  const { session } = transaction;
  const outcome: Outcome = {
    requestsMax: deps.requestsMax,
    limitMs: page.limitMs,
    now: new Date(deps.clock.nowMs()),
    known: await deps.stepStore.load(page.due ?? page.overdue, session),
    payments: new Map(await deps.store.load(referencesOf(page), session)),
    kept: [],
    done: [],
    reports: [],
    taken: [],
  };
  const { payments, kept } = outcome;
  if (page.due) checkAgain(page.due, page.overdue, outcome);
  else takeUp(page.overdue, outcome);
  for (const reference of page.compared ?? []) {
    const tracked = payments.get(reference);
    // One whose entries match by now is due for no comparison.
    if (tracked && !judgeBooks(tracked)) payments.set(reference, { ...tracked, booksDueAtMs: null });
  }
  for (const { reference, kind, step, requests } of kept)
    if (isAsked(step) && requests > 0) deps.requestRepublication({ reference, kind, step }, transaction);
  await deps.stepStore.save(kept, outcome.done, session);
  await applyReports(deps.breaks, outcome.reports, payments, transaction);
  await deps.store.save([...payments.values()], session);
  // Openings and ends that never came are taken from the gateways' records, each with a break.
  const observed = outcome.taken.map((record) => ({
    reference: record.reference,
    eventId: null,
    observation: { kind: 'audited', name: 'the record of its gateway', record } as const,
  }));
  await deps.workingSet.apply(observed, transaction);
}

/** Begins to follow what a look has found overdue. */
function takeUp(overdue: readonly Overdue[], outcome: Outcome): void {
  const { now, limitMs, known, payments, kept } = outcome;
  for (const one of overdue) {
    const tracked = payments.get(one.reference);
    const before = known.get(stepId(one));
    const step = found(one, limitMs, now);
    const finding = findingOf(step, tracked);
    // What is followed is looked at no more.
    if (one.step === 'entry' && tracked) payments.set(one.reference, { ...tracked, booksDueAtMs: null });
    if (!finding) continue;
    if (before && !isResolved(before, tracked)) {
      // People may have resolved its break, which an audit opens again; what stands is no news.
      const isGone = before.isReported && tracked?.breaks.includes(finding.kind) === false;
      if (isGone) report(one, findingOf(before, tracked) ?? finding, outcome);
      // What only a callback names may be nobody's: there is nothing to publish, and nothing was lost.
    } else if (finding.kind === 'callback.unknown_reference') report(one, finding, outcome);
    else kept.push(step);
  }
}

/** Checks followed steps that were due, by what is overdue of their payments. */
function checkAgain(due: readonly FollowedStep[], overdue: readonly Overdue[], outcome: Outcome): void {
  const { requestsMax, limitMs, now, known, payments, kept, done, reports, taken } = outcome;
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
      if (finding && next.isReported && !step.isReported) report(next, finding, outcome);
    }
  }
}

function report({ reference }: NamedStep, finding: Finding, { reports, payments, now }: Outcome): void {
  reports.push(toFoundBreak(reference, finding, placeOf(payments.get(reference)), now));
}

const isGap = (step: Step) => step === 'opening' || step === 'end';
