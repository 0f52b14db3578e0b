import { createHash } from 'node:crypto';
import { accept, type Result } from '@pesewa/kernel';
import type { Filter } from 'mongodb';
import { isCaughtUp, LOOK_MS, startRuns } from '../matching/runs.ts';
import type { Keep } from '../matching/store.ts';
import { createStatementBreaks } from './breaks.ts';
import { alone, type Compare, createComparing, createTakingUpLate } from './comparing.ts';
import type { StatementDeps } from './deps.ts';
import { createDropping, removeRecords } from './dropping.ts';
import { createStatementIntake, type IntakeRefusal } from './intake.ts';
import type { RecordDocument, StatementDocument, StatementTerms } from './store.ts';

/** The result of a dry run, of which nothing else is kept. */
export interface TrialReport {
  readonly statement: StatementDocument;
  /** The first records that are not matched. */
  readonly problems: readonly RecordDocument[];
}

/** The statements of rails. */
export type Statements = ReturnType<typeof startStatements>;

const PAUSE_MS = 5_000;
const PROBLEMS_MAX = 50;
/** Longer than any dry run takes: what is older was left by a dead process. */
const TRIAL_KEEP_MS = 6 * 3_600_000;

/** A statement of which nothing has come yet. */
const empty = { stage: 'receiving', lines: 0, opened: 0, hidden: 0, currencies: [] } as const;

/** Starts the matching of complete statements, in the order in which they are complete; what stopped begins its stage again. */
export function startStatements(deps: StatementDeps) {
  const { statementStore: store, clock, ids } = deps;
  const { runs } = store;
  const intake = createStatementIntake(deps);
  const compare = createComparing(deps);
  const tryOut = createTrial(deps, intake, compare);
  const step = createStep(deps, compare);
  const loop = startRuns({ ...deps, name: 'statements', store, inOrderBy: 'rail', pauseMs: PAUSE_MS, step });

  /** Has statements deleted with their records; the same file makes a new one, and breaks stay. Gives how many. */
  async function drop(which: Filter<StatementDocument>): Promise<number> {
    const dropped = { stage: 'dropped', running: true, dueAt: new Date(clock.nowMs()) } as const;
    const { matchedCount } = await runs.updateMany(which, {
      $set: dropped,
      $unset: { name: true, retryAt: true },
    });
    loop.wake();
    return matchedCount;
  }

  function make(terms: StatementTerms, requestedBy: string, keepMs: number): StatementDocument {
    const requestedAt = new Date(clock.nowMs());
    const keepUntil = new Date(requestedAt.getTime() + keepMs);
    return { ...terms, ...empty, _id: ids.next('st'), requestedBy, requestedAt, keepUntil };
  }

  return {
    /** Accepts a file and leaves it to be matched; a complete one is not read again, unless by another mapping. */
    take: async (
      terms: StatementTerms,
      by: string,
      content: AsyncIterable<Uint8Array>,
    ): Promise<Result<StatementDocument, IntakeRefusal>> => {
      const name = nameOf(terms);
      const known = await runs.findOne({ name, mapping: terms.mapping });
      if (known) return accept(known);
      const begun = make(terms, by, deps.keepMs);
      await runs.insertOne(begun);
      // An earlier upload that stalls, or whose process died: nothing proves that it had the same content.
      await drop({ ...terms, stage: 'receiving', _id: { $lt: begun._id } });
      const taken = await intake(begun, content, name);
      loop.wake();
      return taken;
    },
    /** Does the same without opening breaks; gives the result and keeps nothing. */
    tryOut: (terms: StatementTerms, by: string, content: AsyncIterable<Uint8Array>) =>
      tryOut(make(terms, by, TRIAL_KEEP_MS), content),
    forget: async (_id: string): Promise<boolean> => (await drop({ _id })) > 0,
    /** Has the newest statement of each rail that is done take up ends that came after those of their time were matched. */
    lookForLate: async (rails: readonly string[]): Promise<void> => {
      const due = { $set: { running: true, dueAt: new Date(clock.nowMs()) } } as const;
      for (const rail of rails)
        await runs.findOneAndUpdate({ rail, stage: 'done' }, due, { sort: { requestedAt: -1 } });
      loop.wake();
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

/** Builds what stores the lines of a file without a statement, compares them and removes them again. */
function createTrial(
  deps: StatementDeps,
  intake: ReturnType<typeof createStatementIntake>,
  compare: Compare,
) {
  const { statementStore: store, payments, clock } = deps;
  return async (
    begun: StatementDocument,
    content: AsyncIterable<Uint8Array>,
  ): Promise<Result<TrialReport, IntakeRefusal>> => {
    const { _id: run, rail } = begun;
    try {
      const taken = await intake(begun, content);
      if (!taken.ok) return taken;
      const trial = taken.value;
      if (trial.window) await compare(payments.ended(trial.window), { rail, trial }, alone);
      const problems = await store.records
        .find({ run, result: { $nin: ['matched', 'set_aside'] } })
        .sort({ _id: 1 })
        .limit(PROBLEMS_MAX)
        .toArray();
      const counts = (await store.count(run)) ?? {};
      const done = { stage: 'done', counts, finishedAt: new Date(clock.nowMs()) } as const;
      return accept({ statement: { ...trial, ...done }, problems });
    } finally {
      await removeRecords(store, run, alone);
    }
  };
}

/** Takes the next steps of a statement; what one has done is done again harmlessly. */
function createStep(deps: StatementDeps, compare: Compare) {
  const { statementStore: store, clock } = deps;
  const { runs } = store;
  const openBreaks = createStatementBreaks(deps);
  const drop = createDropping(deps);
  const takeUpLate = createTakingUpLate(deps, compare);
  const over = { running: true, dueAt: true } as const;

  async function match(statement: StatementDocument, keep: Keep): Promise<void> {
    const { _id, rail, stage, window, lateFrom } = statement;
    if (stage === 'gathering') {
      // Payments are missed only once everything that the owners published is applied.
      if (!(await isCaughtUp(deps.messaging))) return store.dueAgain(statement, LOOK_MS);
      if (window) await compare(deps.payments.ended(window), { rail }, keep);
      await runs.updateOne({ _id, stage }, { $set: { stage: 'breaks' } });
    }
    const hidden = await openBreaks(statement, keep);
    const counts = (await store.count(_id)) ?? {};
    const now = new Date(clock.nowMs());
    const done = { stage: 'done', counts, hidden, finishedAt: now } as const;
    // It may have changed by late ends of which the rest is to be taken up.
    const next = lateFrom ? { $set: { ...done, dueAt: now } } : { $set: done, $unset: over };
    await runs.updateOne({ _id, stage: 'breaks' }, next);
  }

  return (statement: StatementDocument, keep: Keep): Promise<void> => {
    if (statement.stage === 'dropped') return drop(statement, keep);
    return statement.stage === 'done' ? takeUpLate(statement, keep) : match(statement, keep);
  };
}

/** The name of a statement: the same file for the same period has the same. */
function nameOf({ rail, currency, from, to, digest }: StatementTerms): string {
  const content = JSON.stringify([digest, rail, currency, from, to]);
  return createHash('sha256').update(content).digest('hex');
}
