import { createHash } from 'node:crypto';
import { accept, type Result, refuse } from '@pesewa/kernel';
import type { Filter } from 'mongodb';
import { createGathering } from '../matching/gathering.ts';
import { isCaughtUp, LOOK_MS, startRuns } from '../matching/runs.ts';
import type { Keep } from '../matching/store.ts';
import { createStatementBreaks } from './breaks.ts';
import type { StatementDeps } from './deps.ts';
import { createStatementIntake, type IntakeRefusal } from './intake.ts';
import { addLate, compareAgain } from './matching.ts';
import { settle } from './settling.ts';
import type { RecordDocument, StatementDocument, StatementTerms } from './store.ts';
import { windowOf } from './window.ts';

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
/** Longer than any dry run takes: an older one was left by a dead process. */
const TRIAL_KEEP_MS = 6 * 3_600_000;
const DELETED_AT_ONCE = 2_000;

/** A statement of which nothing has come yet. */
const empty = { stage: 'receiving', lines: 0, opened: 0, hidden: 0, currencies: [] } as const;

/** Starts the matching of complete statements, in the order in which they are complete, each from where it stopped. */
export function startStatements(deps: StatementDeps) {
  const { statementStore: store, clock, ids } = deps;
  const intake = createStatementIntake(deps);
  const matchWhole = createMatcher(deps);
  const step = createStep(deps, matchWhole);
  const loop = startRuns({ ...deps, name: 'statements', store, inOrderBy: 'rail', pauseMs: PAUSE_MS, step });

  /** Has statements deleted with their records; the same file makes a new one, and breaks stay. Gives how many. */
  async function drop(which: Filter<StatementDocument>): Promise<number> {
    const dropped = { stage: 'dropped', running: true, dueAt: new Date(clock.nowMs()) } as const;
    const { matchedCount } = await store.runs.updateMany(which, {
      $set: dropped,
      $unset: { name: true, retryAt: true },
    });
    loop.wake();
    return matchedCount;
  }

  /** Notes an upload of which nothing has come yet. */
  async function begin(terms: StatementTerms, by: string, trial?: true): Promise<StatementDocument> {
    const requestedAt = new Date(clock.nowMs());
    const keepUntil = new Date(requestedAt.getTime() + (trial ? TRIAL_KEEP_MS : deps.keepMs));
    const made = { ...terms, _id: ids.next('st'), requestedBy: by, ...(trial && { trial }) };
    const statement = { ...made, requestedAt, keepUntil, ...empty };
    await store.runs.insertOne(statement);
    return statement;
  }

  return {
    /** Accepts a file and leaves it to be matched; a complete one is not read again, unless another mapping was since. */
    take: async (
      terms: StatementTerms,
      by: string,
      content: AsyncIterable<Uint8Array>,
    ): Promise<Result<StatementDocument, IntakeRefusal>> => {
      const name = nameOf(terms);
      const known = await store.runs.findOne({ name });
      if (known && !(await isOverruled(store, known))) return accept(known);
      const begun = await begin(terms, by);
      const { rail, digest, currency, from, to, mapping } = terms;
      const same = { rail, digest, currency, from, to, mapping } as const;
      // An earlier upload that stalls, or whose process died: nothing proves that it had the same content.
      await drop({ ...same, stage: 'receiving', trial: { $exists: false }, _id: { $lt: begun._id } });
      const replace = async () => known && drop({ _id: known._id });
      const taken = await intake(begun, content, { name, replace });
      loop.wake();
      return taken;
    },
    /** Does the same without opening breaks; gives the result and keeps nothing. */
    tryOut: async (
      terms: StatementTerms,
      by: string,
      content: AsyncIterable<Uint8Array>,
    ): Promise<Result<TrialReport, IntakeRefusal>> => {
      const begun = await begin(terms, by, true);
      try {
        const taken = await intake(begun, content, { name: nameOf(terms) });
        if (!taken.ok) return refuse(taken.refusal);
        const statement = await matchWhole(taken.value, alone);
        const problems = await store.records
          .find({ run: begun._id, result: { $nin: ['matched', 'set_aside'] } })
          .sort({ _id: 1 })
          .limit(PROBLEMS_MAX)
          .toArray();
        return accept({ statement, problems });
      } finally {
        await remove(store, begun);
      }
    },
    forget: async (_id: string): Promise<boolean> => (await drop({ _id })) > 0,
    /** Has ends taken up that rails' statements were matched before. */
    lookForLate: async (rails: readonly string[]): Promise<void> => {
      for (const rail of rails) await dueForLate(deps, rail);
      loop.wake();
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

/** Has a rail's newest statement that is done take up late ends. */
async function dueForLate({ statementStore: { runs }, clock }: StatementDeps, rail: string): Promise<void> {
  const done = { rail, stage: 'done', trial: { $exists: false } } as const;
  const due = { running: true, dueAt: new Date(clock.nowMs()) } as const;
  await runs.findOneAndUpdate(done, { $set: due }, { sort: { requestedAt: -1 } });
}

/** Nobody else takes the steps of a dry run. */
const alone: Keep = async () => {};

/** Takes the next steps of a statement. */
function createStep(deps: StatementDeps, matchWhole: ReturnType<typeof createMatcher>) {
  const takeUp = addLate(deps);
  const leave = compareAgain(deps);
  return async (statement: StatementDocument, keep: Keep): Promise<unknown> => {
    const { _id, stage } = statement;
    if (stage === 'done') return takeUp(statement, keep);
    if (stage === 'dropped') {
      await leave(statement, keep);
      return remove(deps.statementStore, statement, keep);
    }
    if (stage !== 'gathering' && stage !== 'breaks') throw new Error(`${_id}: no step is known of ${stage}`);
    // Payments are missed only once everything that the owners published is applied.
    const isReady = stage !== 'gathering' || (await isCaughtUp(deps.messaging));
    return isReady ? matchWhole(statement, keep) : deps.statementStore.dueAgain(statement, LOOK_MS);
  };
}

/** Whether the same file was read by another mapping since: what was taken back then is to be said again. */
async function isOverruled(
  { runs }: StatementDeps['statementStore'],
  { _id, rail, digest, requestedAt, stage }: StatementDocument,
): Promise<boolean> {
  if (stage !== 'done') return false;
  const later = { _id: { $ne: _id }, name: { $exists: true }, requestedAt: { $gt: requestedAt } };
  return (await runs.findOne({ rail, digest, ...later })) !== null;
}

/** Deletes a statement that takes no more lines, its records first. */
async function remove(
  { runs, records }: StatementDeps['statementStore'],
  { _id }: Pick<StatementDocument, '_id'>,
  keep = alone,
): Promise<void> {
  for (;;) {
    await keep();
    const ids = { projection: { _id: 1 }, limit: DELETED_AT_ONCE } as const;
    const page = await records.find({ run: _id }, ids).toArray();
    if (page.length === 0) break;
    await records.deleteMany({ _id: { $in: page.map((record) => record._id) } });
  }
  await runs.deleteOne({ _id });
}

/** Runs every remaining stage of a complete file, and records each one when it is done. */
function createMatcher(deps: StatementDeps) {
  const { statementStore: store, clock } = deps;
  const { gather } = createGathering<StatementDocument, RecordDocument>({
    ...deps,
    store,
    recordsOf: (statement, payments, transaction) => settle(deps, [statement], payments, transaction),
    next: 'breaks',
  });
  const openBreaks = createStatementBreaks(deps);
  return async (statement: StatementDocument, keep: Keep): Promise<StatementDocument> => {
    const { _id, trial, lateFrom } = statement;
    const window = windowOf(statement);
    if (statement.stage === 'gathering') {
      if (!window) await store.runs.updateOne({ _id, stage: 'gathering' }, { $set: { stage: 'breaks' } });
      else if (!(await gather(statement, window, keep))) return statement;
    }
    const matched = { ...statement, stage: 'breaks' } as const;
    const hidden = trial ? 0 : await openBreaks(matched, keep);
    const counts = (await store.count(_id)) ?? {};
    const done = { stage: 'done', counts, hidden, finishedAt: new Date(clock.nowMs()) } as const;
    const over = !lateFrom && { $unset: { running: true, dueAt: true } as const };
    await store.runs.updateOne({ _id, stage: 'breaks' }, { $set: done, ...over });
    return (await store.find(_id)) ?? { ...matched, counts };
  };
}

/** The name of a statement: the same file under the same terms has the same. A mapping's fields are in the order of its schema. */
function nameOf({ rail, currency, from, to, mapping, digest }: StatementTerms): string {
  const content = JSON.stringify([digest, rail, currency, from, to, mapping]);
  return createHash('sha256').update(content).digest('hex');
}
