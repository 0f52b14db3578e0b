import { createHash } from 'node:crypto';
import { accept, type Clock, type Ids, type Result, refuse } from '@pesewa/kernel';
import { type Loop, leasesOf, type Messaging, startLoop, takeLease } from '@pesewa/messaging';
import type { Logger, ReportProcessed } from '@pesewa/runtime';
import type { StatementBreaks } from './breaks.ts';
import type { IntakeRefusal, StatementIntake } from './intake.ts';
import { countResults, dropStatement, matchStage } from './matching.ts';
import type { StatementPayments } from './payments.ts';
import type { RecordDocument, StatementDocument, StatementStore, StatementTerms } from './store.ts';

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

/** The statements of rails (ADR 30). */
export interface Statements extends AsyncDisposable {
  /** Accepts a file and leaves it to be matched; a complete one is not read again. */
  readonly take: Reception<StatementDocument>;
  /** Does the same without opening breaks; gives the result and keeps nothing. */
  readonly tryOut: Reception<TrialReport>;
  /** Deletes a statement and its records, so that the same file is matched anew; its breaks stay. */
  readonly forget: (id: string) => Promise<boolean>;
}

/** The dependencies of {@link startStatements}. */
export interface StatementDeps {
  readonly statementStore: StatementStore;
  readonly payments: StatementPayments;
  readonly intake: StatementIntake;
  readonly statementBreaks: StatementBreaks;
  readonly messaging: Pick<Messaging, 'db' | 'owner'>;
  /** How long a statement is kept. */
  readonly statementKeepMs: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/** Longer than any piece of work between two renewals. */
const LEASE = 'statements';
const LEASE_MS = 20_000;
const RENEW_MS = 5_000;
const PAUSE_MS = 5_000;
const PROBLEMS_MAX = 50;
/** Longer than any dry run takes: an older one was left by a dead process. */
const TRIAL_KEEP_MS = 6 * 3_600_000;
const ID_LENGTH = 32;
/** How long an upload waits for the deletion of an earlier one that was dropped; after that it is refused. */
const DELETED_WITHIN_MS = 5_000;
const DELETED_LOOK_MS = 50;

/** Starts the matching of complete statements: one replica at a time for each, from the stage where it stopped. */
export function startStatements(deps: StatementDeps): Statements {
  const { statements } = deps.statementStore;
  const loop: Loop = startLoop({
    name: 'statements',
    pauseMs: PAUSE_MS,
    clock: deps.clock,
    logger: deps.logger,
    round: (signal, processed) => workOff(deps, signal, processed),
  });

  /** The statement of these terms: a new one, or the existing one. */
  async function begin(_id: string, terms: StatementTerms, by: string, isTrial: boolean) {
    await untilDeleted(deps, _id, loop.wake);
    const fresh = {
      ...terms,
      status: 'receiving' as const,
      stage: 'payments' as const,
      at: new Date(deps.clock.nowMs()),
      by,
      ...(isTrial && { trial: true as const }),
      batches: 0,
      chain: '',
      lines: 0,
      currencies: [],
      opened: 0,
      hidden: 0,
    };
    await statements.updateOne({ _id }, { $setOnInsert: fresh }, { upsert: true });
    const statement = await statements.findOne({ _id });
    if (!statement) throw new Error('a statement was deleted while it came in');
    return statement;
  }

  return {
    take: async (terms, by, content) => {
      const statement = await begin(statementId(terms), terms, by, false);
      if (statement.status === 'matching' || statement.status === 'done') return accept(statement);
      const taken = await deps.intake(statement, content);
      loop.wake();
      return taken;
    },
    tryOut: async (terms, by, content) => {
      const _id = `${statementId(terms)}-${deps.ids.next('rn')}`;
      try {
        const taken = await deps.intake(await begin(_id, terms, by, true), content);
        if (!taken.ok) return refuse(taken.refusal);
        const statement = await matchWhole(deps, taken.value, async () => {});
        const problems = await deps.statementStore.records
          .find({ statement: _id, result: { $nin: ['matched', 'set_aside'] } })
          .sort({ _id: 1 })
          .limit(PROBLEMS_MAX)
          .toArray();
        return accept({ statement, problems });
      } finally {
        await dropStatement(deps.statementStore, _id, async () => {});
      }
    },
    forget: async (id) => {
      const { matchedCount } = await statements.updateOne({ _id: id }, { $set: { status: 'dropped' } });
      loop.wake();
      return matchedCount > 0;
    },
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      // So that another replica need not wait until it runs out.
      await leasesOf(deps.messaging.db).deleteOne({ _id: LEASE, owner: deps.messaging.owner });
    },
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
  while ((await statementStore.statements.findOne({ _id, status: 'dropped' })) && clock.nowMs() < untilMs) {
    wake();
    await clock.sleep(DELETED_LOOK_MS);
  }
}

/** The id of a statement: the same file under the same terms has the same. */
function statementId({ rail, currency, from, to, mapping, digest }: StatementTerms): string {
  const content = JSON.stringify([digest, rail, currency, from, to, canonical(mapping)]);
  return `st-${createHash('sha256').update(content).digest('hex').slice(0, ID_LENGTH)}`;
}

/** A value with the keys of its objects sorted. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(
    entries.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([key, part]) => [key, canonical(part)]),
  );
}

/** Takes one waiting statement and finishes it; gives whether there was one. */
async function workOff(
  deps: StatementDeps,
  signal: AbortSignal,
  processed: ReportProcessed,
): Promise<boolean> {
  const { statements } = deps.statementStore;
  const nowMs = deps.clock.nowMs();
  const waiting = await statements
    .find({
      $or: [
        { status: 'matching', trial: { $exists: false } },
        { status: 'dropped' },
        { at: { $lt: new Date(nowMs - deps.statementKeepMs) } },
        { trial: true, at: { $lt: new Date(nowMs - TRIAL_KEEP_MS) } },
      ],
    })
    .sort({ at: 1 })
    .limit(20)
    .toArray();
  for (const statement of waiting) {
    const keep = await leaseOf(deps, signal);
    if (!keep) continue;
    if (statement.status === 'matching' && !statement.trial && !isOld(deps, statement)) {
      await matchWhole(deps, statement, keep);
    } else await dropStatement(deps.statementStore, statement._id, keep);
    processed(1);
    return true;
  }
  return false;
}

function isOld({ clock, statementKeepMs }: StatementDeps, { at }: StatementDocument): boolean {
  return at.getTime() < clock.nowMs() - statementKeepMs;
}

/** The lease on matching statements, which must be renewed; undefined if another replica has it. */
async function leaseOf(
  { messaging, clock }: StatementDeps,
  signal: AbortSignal,
): Promise<(() => Promise<void>) | undefined> {
  const request = { name: LEASE, owner: messaging.owner, durationMs: LEASE_MS };
  const take = () => takeLease(leasesOf(messaging.db), request);
  if (!(await take())) return undefined;
  let renewedMs = clock.nowMs();
  return async () => {
    if (signal.aborted) throw new Error('closing: the statement is matched on at the next start');
    if (clock.nowMs() - renewedMs < RENEW_MS) return;
    if (!(await take())) throw new Error('another replica matches the statement now');
    renewedMs = clock.nowMs();
  };
}

/** Runs every remaining stage, and records each one when it is done. */
async function matchWhole(
  deps: StatementDeps,
  statement: StatementDocument,
  keep: () => Promise<void>,
): Promise<StatementDocument> {
  const { statements } = deps.statementStore;
  const { _id } = statement;
  let current = statement;
  while (current.stage !== 'breaks') {
    const stage = await matchStage({ ...deps, keep }, current);
    await statements.updateOne({ _id, status: 'matching', stage: current.stage }, { $set: { stage } });
    current = { ...current, stage };
  }
  if (!current.trial) await deps.statementBreaks(current, keep);
  const counts = await countResults(deps.statementStore, _id);
  const doneAt = new Date(deps.clock.nowMs());
  await statements.updateOne({ _id, status: 'matching' }, { $set: { status: 'done', counts, doneAt } });
  const done = await statements.findOne({ _id });
  return done ?? { ...current, counts };
}
