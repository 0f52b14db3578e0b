import { accept, type Result, refuse } from '@pesewa/kernel';
import { isDuplicateKey, type Transaction } from '@pesewa/messaging';
import { commitEach } from '../batches.ts';
import {
  matchByReference,
  type NumberedRow,
  notInBooks,
  type Outcome,
  type StatementPayment,
} from '../domain/statement-matching.ts';
import type { StatementLine } from '../domain/statement-records.ts';
import type { StatementDeps } from './deps.ts';
import { readStatementFile } from './lines.ts';
import { toPayments, toUpdates } from './settling.ts';
import { lineId, type RecordDocument, type StatementDocument } from './store.ts';
import { UnreadableFileError } from './text.ts';
import { windowOf } from './window.ts';

/** Why a file was refused, for people to read. */
export interface IntakeRefusal {
  readonly code: 'unreadable' | 'too_large' | 'digest_differs' | 'dropped';
  readonly message: string;
}

/** A batch of lines, with what was looked up before its transaction. */
interface Batch {
  readonly statement: StatementDocument;
  readonly lines: readonly StatementLine[];
  readonly payments: ReadonlyMap<string, StatementPayment>;
  /** Whether the lines are stored without a statement. */
  readonly isTrial: boolean;
}

const ended: IntakeRefusal = {
  code: 'dropped',
  message: 'another upload of the same file, or its deletion, ended this one: send the file again',
};

/**
 * Builds what stores an upload as it arrives, each line matched by its reference; it is accepted under its name once all of
 * the file is stored and its digest is the announced one, unless another upload of the same terms was stored before. A dry
 * run has no name, and its lines alone are stored.
 */
export function createStatementIntake(deps: StatementDeps) {
  const { runs } = deps.statementStore;
  const storeOnce = commitEach(deps.messaging, 'reconciler.statement', (batch: Batch, transaction) =>
    store(deps, batch, transaction),
  );
  return async (
    statement: StatementDocument,
    content: AsyncIterable<Uint8Array>,
    name?: string,
  ): Promise<Result<StatementDocument, IntakeRefusal>> => {
    const { _id, mapping } = statement;
    const isTrial = name === undefined;
    const whole = await receive(deps, statement, content, (batch) => storeOnce({ ...batch, isTrial }));
    if (isTrial || (whole.ok && (await complete(deps, whole.value, name)))) return whole;
    const dueAt = new Date(deps.clock.nowMs());
    await runs.updateOne({ _id, stage: 'receiving' }, { $set: { stage: 'dropped', running: true, dueAt } });
    if (!whole.ok && whole.refusal !== ended) return whole;
    const other = await runs.findOne({ name, mapping });
    return other ? accept(other) : refuse(ended);
  };
}

/**
 * Gives a statement whose whole file is stored its name, and drops the one that has read the same file by another mapping,
 * in one transaction; false if it was ended meanwhile, or another upload of the same terms has the name.
 */
async function complete(
  { statementStore: { runs }, messaging, clock }: StatementDeps,
  { _id, ...whole }: StatementDocument,
  name: string,
): Promise<boolean> {
  const { mapping, requestedAt } = whole;
  const replaced = { stage: 'dropped', replacedBy: _id, running: true, dueAt: requestedAt } as const;
  const dueAt = new Date(clock.nowMs());
  try {
    return await messaging.db.client.withSession((session) =>
      session.withTransaction(async () => {
        const mine = await runs.findOne({ _id, stage: 'receiving' }, { session });
        if (!mine) return false;
        await runs.updateOne(
          { name, mapping: { $ne: mapping } },
          { $set: replaced, $unset: { name: true, retryAt: true } },
          { session },
        );
        await runs.updateOne({ _id }, { $set: { ...whole, name, running: true, dueAt } }, { session });
        return true;
      }),
    );
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

/** Reads the file and stores it, each batch while the next one is being read; gives the statement with what is known then. */
async function receive(
  deps: StatementDeps,
  statement: StatementDocument,
  content: AsyncIterable<Uint8Array>,
  storeOnce: (batch: Omit<Batch, 'isTrial'>) => Promise<boolean>,
): Promise<Result<StatementDocument, IntakeRefusal>> {
  const { mapping, currency } = statement;
  const file = readStatementFile(content, { mapping, currency, limits: deps.limits });
  let writing = Promise.resolve(true);
  try {
    for await (const lines of file.batches) {
      const named = lines.flatMap(({ read }) => ('row' in read ? (read.row.reference ?? []) : []));
      const found = named.length > 0 ? await deps.payments.find(named) : [];
      if (!(await writing)) return refuse(ended);
      writing = storeOnce({ statement, lines, payments: toPayments(found, deps.railFee) });
      // Awaited with the next batch; this only keeps an earlier rejection from being unhandled.
      writing.catch(() => undefined);
    }
    if (!(await writing)) return refuse(ended);
  } catch (error) {
    await writing;
    if (!(error instanceof UnreadableFileError)) throw error;
    return refuse({ code: error.isTooLarge ? 'too_large' : 'unreadable', message: error.message });
  }
  if (file.digest() !== statement.digest) {
    const message = `sha256: the file that came has the digest ${file.digest()}: send that, or the right file`;
    return refuse({ code: 'digest_differs', message });
  }
  const { firstAt, lastAt, ...known } = file.summary();
  const window = windowOf({ ...statement, ...(firstAt && { firstAt }), ...(lastAt && { lastAt }) });
  const lines = known.file.records;
  return accept({ ...statement, ...known, lines, ...(window && { window }), stage: 'gathering' });
}

/** Stores a batch; false if the upload was ended meanwhile. */
async function store(
  { statementStore: { runs, records } }: StatementDeps,
  { statement, lines, payments, isTrial }: Batch,
  { session }: Transaction,
): Promise<boolean> {
  const { _id, rail } = statement;
  if (!isTrial) {
    const received = { $inc: { lines: lines.length } };
    const { matchedCount } = await runs.updateOne({ _id, stage: 'receiving' }, received, { session });
    if (matchedCount === 0) return false;
  }
  const rows = lines.flatMap(({ line, read }): readonly NumberedRow[] =>
    'row' in read ? [{ id: lineId(_id, line), row: read.row }] : [],
  );
  const movements = [...payments.keys()].flatMap((reference) => [reference, `${reference}/reversal`]);
  // The lines of earlier batches that stand for movements of these payments; each may lose its place.
  const earlier =
    movements.length > 0
      ? await records.find({ uses: { $in: movements }, run: _id }, { session }).toArray()
      : [];
  const held = earlier.flatMap(({ _id: id, row }) => (row ? [{ id, row }] : []));
  const outcomes = matchByReference([...held, ...rows], payments, rail);
  const inserts = lines.map((line) => ({
    insertOne: { document: toRecord(statement, line, outcomes.get(lineId(_id, line.line))) },
  }));
  await records.bulkWrite([...toUpdates(earlier, outcomes), ...inserts], { session, ordered: true });
  return true;
}

function toRecord(
  { _id: run, keepUntil }: StatementDocument,
  { line, read }: StatementLine,
  outcome: Outcome | undefined,
): RecordDocument {
  const base = { _id: lineId(run, line), run, line, keepUntil };
  if ('unreadable' in read) return { ...base, result: 'unreadable', reason: read.unreadable };
  if ('aside' in read) return { ...base, result: 'set_aside' };
  const { row } = read;
  return { ...base, row, ...(outcome ?? notInBooks(row)) };
}
