import { createHash } from 'node:crypto';
import { accept, type Clock, type Ids, type Result, refuse } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import { deleteRun, type Keep, startRuns } from '../matching/runs.ts';
import { isDone } from '../matching/store.ts';
import type { StatementBreaks } from './breaks.ts';
import type { IntakeRefusal, StatementIntake } from './intake.ts';
import { addLate, compareAgain, gatherMissing, type MissingDeps } from './matching.ts';
import type { RecordDocument, StatementDocument, StatementTerms } from './store.ts';
import { windowOf } from './window.ts';

/** The result of a dry run, of which nothing else is kept. */
export interface TrialReport {
  readonly statement: StatementDocument;
  /** The first records that are not matched. */
  readonly problems: readonly RecordDocument[];
}

type Reception<Taken> = (
  terms: StatementTerms,
  by: string,
  content: AsyncIterable<Uint8Array>,
) => Promise<Result<Taken, IntakeRefusal>>;

/** The statements of rails. */
export interface Statements extends AsyncDisposable {
  /** Accepts a file and leaves it to be matched; a complete one is not read again, unless another mapping was since. */
  readonly take: Reception<StatementDocument>;
  /** Does the same without opening breaks; gives the result and keeps nothing. */
  readonly tryOut: Reception<TrialReport>;
  /** Deletes a statement and its records, so that the same file is matched anew; its breaks stay. */
  readonly forget: (id: string) => Promise<boolean>;
  /** Has ends taken up that rails' statements were matched before. */
  readonly lookForLate: (rails: readonly string[]) => Promise<void>;
}

/** The dependencies of {@link startStatements}. */
export interface StatementDeps extends MissingDeps {
  readonly intake: StatementIntake;
  readonly statementBreaks: StatementBreaks;
  readonly messaging: MissingDeps['messaging'] & Pick<Messaging, 'db' | 'owner' | 'caughtUp'>;
  /** How long a statement is kept. */
  readonly statementKeepMs: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

const PAUSE_MS = 5_000;
/** How long a step waits until the owners' published events are applied here, and the pause until it checks again. */
const CAUGHT_UP_TIMEOUT_MS = 5_000;
const LOOK_MS = 1_000;
const PROBLEMS_MAX = 50;
/** Longer than any dry run takes: an older one was left by a dead process. */
const TRIAL_KEEP_MS = 6 * 3_600_000;
const ID_LENGTH = 32;
/** How long an upload waits for the deletion of an earlier one that was dropped; after that it is refused. */
const DELETED_WITHIN_MS = 5_000;
const DELETED_LOOK_MS = 50;

/** A statement of which nothing has come yet. */
const empty = {
  stage: 'receiving',
  batches: 0,
  lines: 0,
  opened: 0,
  hidden: 0,
  chain: '',
  currencies: [],
} as const;

/** Gives the statement of these terms: a new one, or the existing one. */
type Begin = (
  _id: string,
  terms: StatementTerms,
  requestedBy: string,
  trial?: { readonly trial: true },
) => Promise<StatementDocument>;

/** Starts the matching of complete statements, in the order in which they are complete, each from where it stopped. */
export function startStatements(deps: StatementDeps): Statements {
  const { statementStore: store, clock } = deps;
  const matchWhole = createMatcher(deps);
  const loop = startRuns({
    ...deps,
    name: 'statements',
    store,
    inOrderBy: 'rail',
    pauseMs: PAUSE_MS,
    step: createStep(deps, matchWhole),
  });

  const begin: Begin = async (_id, terms, requestedBy, trial) => {
    await untilDeleted(deps, _id, loop.wake);
    const requestedAt = new Date(clock.nowMs());
    const keepUntil = new Date(requestedAt.getTime() + (trial ? TRIAL_KEEP_MS : deps.statementKeepMs));
    const held = trial && { ...trial, claim: _id };
    const { run } = await store.create({
      _id,
      ...terms,
      requestedBy,
      requestedAt,
      keepUntil,
      ...empty,
      ...held,
    });
    return run;
  };

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
    take: async (terms, by, content) => {
      const _id = statementId(terms);
      let statement = await begin(_id, terms, by);
      if (await isOverruled(store, statement)) {
        await forget(_id);
        statement = await begin(_id, terms, by);
      }
      if (statement.stage !== 'receiving' && statement.stage !== 'dropped') return accept(statement);
      const taken = await deps.intake(statement, content);
      loop.wake();
      return taken;
    },
    tryOut: createTrial(deps, begin, matchWhole),
    forget,
    lookForLate: async (rails) => {
      const late = { stage: 'late', running: true, rereading: true, dueAt: new Date(clock.nowMs()) } as const;
      for (const rail of rails) {
        const done = { rail, stage: 'done', trial: { $exists: false } } as const;
        await store.runs.findOneAndUpdate(done, { $set: late }, { sort: { requestedAt: -1 } });
      }
      loop.wake();
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

/** Takes the next steps of a statement. */
function createStep(deps: StatementDeps, matchWhole: ReturnType<typeof createMatcher>) {
  const takeUp = addLate(deps);
  const leave = compareAgain(deps);
  return async (statement: StatementDocument, keep: Keep): Promise<unknown> => {
    if (statement.stage === 'late') return takeUp(statement, keep);
    if (statement.stage !== 'dropped') return (await isLevel(deps, statement)) && matchWhole(statement, keep);
    await leave(statement, keep);
    return deleteRun(deps.statementStore, statement._id, keep);
  };
}

/** Whether everything that the owners published is applied, before payments are missed; if not, it is checked again. */
async function isLevel(
  { statementStore: { runs }, messaging }: StatementDeps,
  { _id, stage }: StatementDocument,
): Promise<boolean> {
  if (stage !== 'gathering') return true;
  if (await messaging.caughtUp(['payouts', 'collections'], CAUGHT_UP_TIMEOUT_MS)) return true;
  await runs.updateOne({ _id, stage }, [{ $set: { dueAt: { $add: ['$$NOW', LOOK_MS] } } }]);
  return false;
}

/** Whether the same file was read by another mapping since: what was taken back then is to be said again. */
async function isOverruled(
  { runs }: StatementDeps['statementStore'],
  { _id, rail, digest, requestedAt, ...run }: StatementDocument,
): Promise<boolean> {
  if (!isDone(run)) return false;
  const later = { _id: { $ne: _id }, trial: { $exists: false }, requestedAt: { $gt: requestedAt } };
  return (await runs.findOne({ rail, digest, ...later })) !== null;
}

/** Builds the dry run, of which nothing is left once it is answered. */
function createTrial(
  deps: StatementDeps,
  begin: Begin,
  matchWhole: ReturnType<typeof createMatcher>,
): Statements['tryOut'] {
  const { statementStore: store } = deps;
  return async (terms, by, content) => {
    const _id = `${statementId(terms)}-${deps.ids.next('rn')}`;
    const keep = async () => {};
    try {
      const taken = await deps.intake(await begin(_id, terms, by, { trial: true }), content);
      if (!taken.ok) return refuse(taken.refusal);
      const statement = await matchWhole(taken.value, keep);
      const problems = await store.records
        .find({ run: _id, result: { $nin: ['matched', 'set_aside'] } })
        .sort({ _id: 1 })
        .limit(PROBLEMS_MAX)
        .toArray();
      return accept({ statement, problems });
    } finally {
      await deleteRun(store, _id, keep);
    }
  };
}

/** Runs every remaining stage of a complete file, and records each one when it is done. */
function createMatcher(deps: StatementDeps) {
  const { statementStore: store, clock } = deps;
  const { gather } = gatherMissing(deps);
  return async (statement: StatementDocument, keep: Keep): Promise<StatementDocument> => {
    const { _id, trial } = statement;
    const move = async (
      from: StatementDocument['stage'],
      set: Partial<StatementDocument>,
      isOver = false,
    ) => {
      const over = isOver && { $unset: { running: true, dueAt: true } as const };
      await store.runs.updateOne({ _id, stage: from }, { $set: set, ...over });
    };
    const window = windowOf(statement);
    if (statement.stage === 'gathering') {
      if (!window) await move('gathering', { stage: 'breaks' });
      else if (!(await gather(statement, window, keep))) return statement;
    }
    const matched = { ...statement, stage: 'breaks' } as const;
    if (!trial) await deps.statementBreaks(matched, keep);
    const counts = (await store.count(_id)) ?? {};
    const next = statement.lateFrom
      ? ({ stage: 'late', rereading: true } as const)
      : { stage: 'done' as const };
    await move('breaks', { ...next, counts, finishedAt: new Date(clock.nowMs()) }, next.stage === 'done');
    return (await store.find(_id)) ?? { ...matched, counts };
  };
}

/**
 * Waits until the rest of a dropped statement is deleted: the file that comes now makes a new one. The loop alone
 * deletes, because a second one might delete what is new already.
 */
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
