import { accept, type Result, refuse } from '@pesewa/kernel';
import type { Transaction } from '@pesewa/messaging';
import { commitEach } from '../batches.ts';
import {
  type HeldRow,
  matchByReference,
  type NumberedRow,
  notInBooks,
  type Outcome,
  type StatementPayment,
} from '../domain/statement-matching.ts';
import type { StatementLine } from '../domain/statement-records.ts';
import { createDeletion } from './deletion.ts';
import type { StatementDeps } from './deps.ts';
import { readStatementFile } from './lines.ts';
import { toPayments, toUpdates } from './settling.ts';
import { lineId, type RecordDocument, type StatementDocument } from './store.ts';
import { UnreadableFileError } from './text.ts';

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
}

const dropped: IntakeRefusal = {
  code: 'dropped',
  message: 'the statement was dropped meanwhile: send it again',
};

const replaced: IntakeRefusal = {
  code: 'dropped',
  message: 'another upload of the same file goes on, and ended this one: wait for it, or send the file again',
};

/**
 * Builds what stores a statement as it arrives, each line matched by its reference; it is accepted once all of the file is
 * stored, by this upload or another one, and its digest is the announced one. Each upload begins from the beginning,
 * since nothing proves that an earlier one had the same content, and ends an earlier one that still goes on.
 */
export function createStatementIntake(deps: StatementDeps) {
  const { statementStore, clock, ids } = deps;
  const { runs } = statementStore;
  const storeOnce = commitEach(deps.messaging, 'reconciler.statement', (batch: Batch, transaction) =>
    store(deps, batch, transaction),
  );
  const deleteRecords = createDeletion(deps);
  return async (
    begun: StatementDocument,
    content: AsyncIterable<Uint8Array>,
  ): Promise<Result<StatementDocument, IntakeRefusal>> => {
    const statement = { ...begun, claim: ids.next('cm') };
    const { _id, claim, trial } = statement;
    const begins = { $set: { claim, lines: 0 } };
    const { matchedCount } = await runs.updateOne({ _id, stage: 'receiving' }, begins);
    const work = { storeOnce, deleteRecords };
    // Another upload may have ended meanwhile: what it has stored counts.
    const received = matchedCount > 0 ? await receive(deps, statement, content, work) : refuse(dropped);
    const due = !trial && ({ running: true, dueAt: new Date(clock.nowMs()) } as const);
    const $set = received.ok
      ? ({ ...received.value, ...due, stage: 'gathering' } as const)
      : ({ ...due, stage: 'dropped' } as const);
    await runs.updateOne({ _id, stage: 'receiving', claim }, { $set });
    if (!received.ok && received.refusal !== dropped) return received;
    const found = await runs.findOne({ _id });
    if (found?.stage === 'receiving') return refuse(replaced);
    return found && found.stage !== 'dropped' ? accept(found) : refuse(dropped);
  };
}

/** What is known of a file once all of it was read. */
type Received = Pick<StatementDocument, 'file' | 'currencies' | 'firstAt' | 'lastAt' | 'hasUnreadable'>;

/** Reads the file and stores it, each batch while the next one is being read; first the rest of an earlier upload goes. */
async function receive(
  deps: StatementDeps,
  statement: StatementDocument,
  content: AsyncIterable<Uint8Array>,
  work: {
    readonly storeOnce: (batch: Batch) => Promise<boolean>;
    readonly deleteRecords: ReturnType<typeof createDeletion>;
  },
): Promise<Result<Received, IntakeRefusal>> {
  const { _id, claim, mapping, currency } = statement;
  const file = readStatementFile(content, { mapping, currency, limits: deps.limits });
  // Meanwhile the first batch is read: only a request that is read has an upload's time.
  let writing = work.deleteRecords({ _id, claim, stage: 'receiving' });
  writing.catch(() => undefined);
  try {
    for await (const lines of file.batches) {
      const named = lines.flatMap(({ read }) => ('row' in read ? (read.row.reference ?? []) : []));
      const found = named.length > 0 ? await deps.payments.find(named) : [];
      if (!(await writing)) return refuse(dropped);
      writing = work.storeOnce({ statement, lines, payments: toPayments(found, deps.railFee) });
      // Awaited with the next batch; this only keeps an earlier rejection from being unhandled.
      writing.catch(() => undefined);
    }
    if (!(await writing)) return refuse(dropped);
  } catch (error) {
    await writing;
    if (!(error instanceof UnreadableFileError)) throw error;
    return refuse({ code: error.isTooLarge ? 'too_large' : 'unreadable', message: error.message });
  }
  if (file.digest() === statement.digest) return accept(file.summary());
  const message = `sha256: the file that came has the digest ${file.digest()}: send that, or the right file`;
  return refuse({ code: 'digest_differs', message });
}

/** Stores a batch; false if the upload is no longer the one that counts. */
async function store(
  { statementStore: { runs, records } }: StatementDeps,
  { statement, lines, payments }: Batch,
  { session }: Transaction,
): Promise<boolean> {
  const { _id, claim, rail } = statement;
  const mine = { _id, claim, stage: 'receiving' } as const;
  const { matchedCount } = await runs.updateOne(mine, { $inc: { lines: lines.length } }, { session });
  if (matchedCount === 0) return false;
  const rows = lines.flatMap(({ line, read }): readonly NumberedRow[] =>
    'row' in read ? [{ id: lineId(_id, line), row: read.row }] : [],
  );
  const movements = [...payments.keys()].flatMap((reference) => [reference, `${reference}/reversal`]);
  const found =
    movements.length > 0
      ? await records.find({ uses: { $in: movements }, run: _id }, { session }).toArray()
      : [];
  /** The lines of earlier batches that stand for movements of these payments. */
  const held = new Map(
    found.flatMap((record): readonly (readonly [string, HeldRow])[] => {
      const { _id: id, row, uses } = record;
      return row && uses !== undefined ? [[uses, { id, row, outcome: record }]] : [];
    }),
  );
  const outcomes = matchByReference(rows, payments, held, rail);
  await records.bulkWrite(
    [
      // First the lines that lose their place.
      ...toUpdates(found, outcomes),
      ...lines.map((line) => ({
        insertOne: { document: toRecord(statement, line, outcomes.get(lineId(_id, line.line))) },
      })),
    ],
    { session, ordered: true },
  );
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
