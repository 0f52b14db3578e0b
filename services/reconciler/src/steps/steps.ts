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
import type { CoverageSource } from '../audits/coverage-source.ts';
import { applyReports } from '../breaks/reports.ts';
import type { BreakStore } from '../breaks/store.ts';
import type { OwnerRecord } from '../domain/coverage.ts';
import { toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import {
  type FollowedStep,
  follow,
  found,
  hasBreak,
  lookFromMs,
  type Overdue,
  type ReportedStep,
  type StepLimits,
  stepKinds,
  stepText,
} from '../domain/steps.ts';
import type { WorkingStore } from '../store.ts';
import type { WorkingSet } from '../working-set.ts';
import { createLevel, type LevelDeps } from './level.ts';
import type { RequestRepublication } from './request.ts';
import { type StepStore, stepId } from './store.ts';
import type { StepWatch } from './watches.ts';

/** The dependencies of following steps. */
export interface StepDeps extends StepLimits {
  readonly watches: readonly StepWatch[];
  readonly stepStore: StepStore;
  readonly sources: readonly CoverageSource[];
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
type Item =
  | { readonly kind: 'found'; readonly overdue: Overdue }
  | {
      readonly kind: 'observed';
      readonly step: FollowedStep;
      readonly stands: boolean;
      /** The record of a payment that is still unknown here. */
      readonly record?: OwnerRecord | undefined;
    };

const LEASE = { name: 'steps', durationMs: 15_000 } as const;
const BATCH = 200;

/**
 * Finds payments at a step of ours for too long, asks their owners to publish again what their records prove, and shows
 * people where that does not help (ADR 27).
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
  const to = new Date(levelAtMs - deps.limitMs);
  const seenUntil = await stepStore.mark(watch.name);
  const from = new Date(lookFromMs(seenUntil?.getTime(), deps.limitMs));
  for await (const { overdue, until } of watch.look(from, to)) {
    await submit(overdue.map((one) => ({ kind: 'found', overdue: one })));
    processed(overdue.length);
    await stepStore.setMark(watch.name, until);
    signal.throwIfAborted();
  }
  await stepStore.setMark(watch.name, to);
  const due = await stepStore.due(watch.steps, new Date(levelAtMs), BATCH);
  if (due.length === 0) return;
  const standing = new Set(await watch.standing(due));
  const records = await recordsOf(deps, [...standing]);
  await submit(
    due.map((step) => ({
      kind: 'observed',
      step,
      stands: standing.has(step),
      record: records.get(step.reference),
    })),
  );
  processed(due.length);
}

/** The records of payments that are unknown here although their owners were asked repeatedly. */
async function recordsOf(
  { sources, requestsMax }: Pick<StepDeps, 'sources' | 'requestsMax'>,
  standing: readonly FollowedStep[],
) {
  const records = new Map<string, OwnerRecord>();
  const unknown = standing.filter(({ step, requests }) => step === 'opening' && requests >= requestsMax);
  for (const source of sources) {
    const own = unknown.filter(({ kind }) => kind === source.kind).map(({ reference }) => reference);
    if (own.length > 0)
      for (const [reference, record] of await source.find(own)) records.set(reference, record);
  }
  return records;
}

async function write(deps: StepDeps, items: readonly Item[], transaction: Transaction): Promise<void> {
  const { stepStore, requestRepublication, clock } = deps;
  const nowMs = clock.nowMs();
  const named = items.map((item) => (item.kind === 'found' ? item.overdue : item.step));
  const known = await stepStore.load(named, transaction.session);
  const kept = new Map<string, FollowedStep>();
  const done: FollowedStep[] = [];
  const outcome: FollowUps = { opened: [], closed: [], missing: [] };
  const ask = (step: FollowedStep) => {
    kept.set(stepId(step), step);
    requestRepublication(step, transaction);
  };
  for (const item of items) {
    if (item.kind === 'found') {
      const id = stepId(item.overdue);
      if (!known.has(id) && !kept.has(id)) ask(found(item.overdue, deps, nowMs));
      continue;
    }
    const { step, stands, record } = item;
    // Another replica has checked it meanwhile.
    if (known.get(stepId(step))?.dueAtMs !== step.dueAtMs) continue;
    const next = follow(step, stands, deps, nowMs);
    if (next.kind === 'goesOn' && record === undefined) {
      ask(next.step);
      if (next.isNews && hasBreak(next.step)) outcome.opened.push(next.step);
      continue;
    }
    done.push(step);
    if (next.kind === 'goesOn' && record !== undefined) outcome.missing.push(record);
    if (next.kind === 'done' && next.wasReported && hasBreak(step)) outcome.closed.push(step);
  }
  await stepStore.save([...kept.values()], done, transaction.session);
  await writeFollowUps(deps, outcome, nowMs, transaction);
}

/** The breaks to open and to close, and the payments to add. */
interface FollowUps {
  readonly opened: (FollowedStep & { readonly step: ReportedStep })[];
  readonly closed: (FollowedStep & { readonly step: ReportedStep })[];
  /** Payments that are unknown here: the working set adds them, with a break. */
  readonly missing: OwnerRecord[];
}

async function writeFollowUps(
  { store, breaks, workingSet }: StepDeps,
  { opened, closed, missing }: FollowUps,
  nowMs: number,
  transaction: Transaction,
): Promise<void> {
  if (opened.length + closed.length + missing.length === 0) return;
  const { session } = transaction;
  const now = new Date(nowMs);
  const ours = await store.load(
    [...opened, ...closed].map(({ reference }) => reference),
    session,
  );
  const payments = new Map(ours);
  const found = opened.map((step) => {
    const { reference } = step;
    const terms = payments.get(reference)?.terms;
    const finding = { kind: stepKinds[step.step], amount: terms?.amount ?? null, detail: stepText(step) };
    return toFoundBreak(reference, finding, terms ?? { currency: null }, now);
  });
  const resolution = 'the step is done: the missing event has arrived';
  const gone = closed.map(({ reference, step }) =>
    toWithdrawal(reference, { kind: stepKinds[step], resolution }, now),
  );
  await applyReports(breaks, [...found, ...gone], payments, transaction);
  await store.save([...payments.values()], session);
  const gap = 'coverage.missing' as const;
  const name = 'the record of its gateway';
  const observed = missing.map((record) => ({
    reference: record.reference,
    eventId: null,
    observation: { kind: 'audited', name, record, gap } as const,
  }));
  await workingSet.apply(observed, transaction);
}
