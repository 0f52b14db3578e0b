import { createHash } from 'node:crypto';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { isCaughtUp, LOOK_MS, startRuns } from '../matching/runs.ts';
import type { Keep } from '../matching/store.ts';
import { createStatementBreaks } from './breaks.ts';
import { createDeletion, type Held } from './deletion.ts';
import type { StatementDeps } from './deps.ts';
import { createStatementIntake, type IntakeRefusal } from './intake.ts';
import { addLate, compareAgain, gatherMissing } from './matching.ts';
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
const ID_LENGTH = 32;
/** How long an upload waits for the deletion of an earlier one that was dropped; after that it is refused. */
const DELETED_WITHIN_MS = 5_000;
const DELETED_LOOK_MS = 50;

/** A statement of which nothing has come yet. */
const empty = { stage: 'receiving', lines: 0, opened: 0, hidden: 0, currencies: [] } as const;

/** Starts the matching of complete statements, in the order in which they are complete, each from where it stopped. */
export function startStatements(deps: StatementDeps) {
  const { statementStore: store, clock } = deps;
  const intake = createStatementIntake(deps);
  const matchWhole = createMatcher(deps);
  const remove = createRemoval(deps);
  const step = createStep(deps, matchWhole, remove);
  const loop = startRuns({ ...deps, name: 'statements', store, inOrderBy: 'rail', pauseMs: PAUSE_MS, step });

  /** Deletes a statement and its records, so that the same file is matched anew; its breaks stay. */
  async function forget(_id: string): Promise<boolean> {
    const dropped = { stage: 'dropped', running: true, dueAt: new Date(clock.nowMs()) } as const;
    const { matchedCount } = await store.runs.updateOne(
      { _id },
      { $set: dropped, $unset: { retryAt: true } },
    );
    loop.wake();
    return matchedCount > 0;
  }

  return {
    /** Accepts a file and leaves it to be matched; a complete one is not read again, unless another mapping was since. */
    take: async (
      terms: StatementTerms,
      by: string,
      content: AsyncIterable<Uint8Array>,
    ): Promise<Result<StatementDocument, IntakeRefusal>> => {
      const made = { ...terms, _id: statementId(terms), requestedBy: by };
      await untilDeleted(deps, made._id, loop.wake);
      let statement = await begin(deps, made);
      if (await isOverruled(store, statement)) {
        await forget(made._id);
        await untilDeleted(deps, made._id, loop.wake);
        statement = await begin(deps, made);
      }
      if (statement.stage !== 'receiving' && statement.stage !== 'dropped') return accept(statement);
      const taken = await intake(statement, content);
      loop.wake();
      return taken;
    },
    /** Does the same without opening breaks; gives the result and keeps nothing. */
    tryOut: async (
      terms: StatementTerms,
      by: string,
      content: AsyncIterable<Uint8Array>,
    ): Promise<Result<TrialReport, IntakeRefusal>> => {
      const _id = `${statementId(terms)}-${deps.ids.next('rn')}`;
      try {
        const made = { ...terms, _id, requestedBy: by, trial: true } as const;
        const taken = await intake(await begin(deps, made, TRIAL_KEEP_MS), content);
        if (!taken.ok) return refuse(taken.refusal);
        const statement = await matchWhole(taken.value, alone);
        const problems = await store.records
          .find({ run: _id, result: { $nin: ['matched', 'set_aside'] } })
          .sort({ _id: 1 })
          .limit(PROBLEMS_MAX)
          .toArray();
        return accept({ statement, problems });
      } finally {
        await remove({ _id }, alone);
      }
    },
    forget,
    /** Has ends taken up that rails' statements were matched before. */
    lookForLate: async (rails: readonly string[]): Promise<void> => {
      for (const rail of rails) await dueForLate(deps, rail);
      loop.wake();
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

/** Gives the statement of these terms: a new one, or the existing one. */
async function begin(
  { statementStore, clock, keepMs: usual }: StatementDeps,
  made: StatementTerms & Pick<StatementDocument, '_id' | 'requestedBy' | 'trial'>,
  keepMs = usual,
): Promise<StatementDocument> {
  const requestedAt = new Date(clock.nowMs());
  const keepUntil = new Date(requestedAt.getTime() + keepMs);
  return (await statementStore.create({ ...made, requestedAt, keepUntil, ...empty })).run;
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
function createStep(
  deps: StatementDeps,
  matchWhole: ReturnType<typeof createMatcher>,
  remove: ReturnType<typeof createRemoval>,
) {
  const takeUp = addLate(deps);
  const leave = compareAgain(deps);
  return async (statement: StatementDocument, keep: Keep): Promise<unknown> => {
    const { _id, claim, stage } = statement;
    if (stage === 'done') return takeUp(statement, keep);
    if (stage === 'dropped') {
      await leave(statement, keep);
      return remove({ _id, claim, stage }, keep);
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
  const later = { _id: { $ne: _id }, trial: { $exists: false }, requestedAt: { $gt: requestedAt } };
  return (await runs.findOne({ rail, digest, ...later })) !== null;
}

/** Builds what deletes a statement with its records, as long as it is as given. */
function createRemoval(deps: StatementDeps) {
  const deleteRecords = createDeletion(deps);
  return async (held: Held, keep: Keep): Promise<void> => {
    if (await deleteRecords(held, keep)) await deps.statementStore.runs.deleteOne(held);
  };
}

/** Runs every remaining stage of a complete file, and records each one when it is done. */
function createMatcher(deps: StatementDeps) {
  const { statementStore: store, clock } = deps;
  const gather = gatherMissing(deps);
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

/** Waits until the loop has deleted a dropped statement: the file that comes now makes a new one. */
async function untilDeleted(
  { statementStore, clock }: StatementDeps,
  _id: string,
  wake: () => void,
): Promise<void> {
  const untilMs = clock.nowMs() + DELETED_WITHIN_MS;
  while ((await statementStore.runs.findOne({ _id, stage: 'dropped' })) && clock.nowMs() < untilMs) {
    wake();
    await clock.sleep(DELETED_LOOK_MS);
  }
}

/** The id of a statement: the same file under the same terms has the same. A mapping's fields are in the order of its schema. */
function statementId({ rail, currency, from, to, mapping, digest }: StatementTerms): string {
  const content = JSON.stringify([digest, rail, currency, from, to, mapping]);
  return `st-${createHash('sha256').update(content).digest('hex').slice(0, ID_LENGTH)}`;
}
