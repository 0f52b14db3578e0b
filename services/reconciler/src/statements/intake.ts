import { accept, type Result, refuse } from '@pesewa/kernel';
import { isDuplicateKey, type Transaction } from '@pesewa/messaging';
import type { UpdateResult } from 'mongodb';
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

const ended: IntakeRefusal = {
  code: 'dropped',
  message: 'another upload of the same file, or its deletion, ended this one: send the file again',
};

/**
 * Builds what stores an upload as it arrives, each line matched by its reference; it is accepted under its name once all of
 * the file is stored and its digest is the announced one, unless another upload of the same name was stored before. Only
 * then is another one replaced.
 */
export function createStatementIntake(deps: StatementDeps) {
  const { statementStore, clock } = deps;
  const { runs } = statementStore;
  const storeOnce = commitEach(deps.messaging, 'reconciler.statement', (batch: Batch, transaction) =>
    store(deps, batch, transaction),
  );
  return async (
    statement: StatementDocument,
    content: AsyncIterable<Uint8Array>,
    { name, replace }: { readonly name: string; readonly replace?: () => Promise<unknown> },
  ): Promise<Result<StatementDocument, IntakeRefusal>> => {
    const { _id, trial } = statement;
    const mine = { _id, stage: 'receiving' } as const;
    const received = await receive(deps, statement, content, storeOnce);
    // What is replaced gives its name up, and is due first.
    if (received.ok) await replace?.();
    const due = !trial && ({ running: true, dueAt: new Date(clock.nowMs()) } as const);
    const whole = { ...due, ...(!trial && { name }), stage: 'gathering' } as const;
    if (received.ok && (await isFirst(runs.updateOne(mine, { $set: { ...received.value, ...whole } })))) {
      const stored = await runs.findOne({ _id });
      return stored && stored.stage !== 'dropped' ? accept(stored) : refuse(ended);
    }
    await runs.updateOne(mine, { $set: { ...due, stage: 'dropped' } });
    if (!received.ok && received.refusal !== ended) return received;
    const other = trial ? null : await runs.findOne({ name });
    return other ? accept(other) : refuse(ended);
  };
}

/** Whether an upload was stored: false if it was ended meanwhile, or another one has its name. */
async function isFirst(storing: Promise<UpdateResult>): Promise<boolean> {
  try {
    return (await storing).matchedCount > 0;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

/** What is known of a file once all of it was read. */
type Received = Pick<StatementDocument, 'file' | 'currencies' | 'firstAt' | 'lastAt' | 'hasUnreadable'>;

/** Reads the file and stores it, each batch while the next one is being read. */
async function receive(
  deps: StatementDeps,
  statement: StatementDocument,
  content: AsyncIterable<Uint8Array>,
  storeOnce: (batch: Batch) => Promise<boolean>,
): Promise<Result<Received, IntakeRefusal>> {
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
  if (file.digest() === statement.digest) return accept(file.summary());
  const message = `sha256: the file that came has the digest ${file.digest()}: send that, or the right file`;
  return refuse({ code: 'digest_differs', message });
}

/** Stores a batch; false if the upload was ended meanwhile. */
async function store(
  { statementStore: { runs, records } }: StatementDeps,
  { statement, lines, payments }: Batch,
  { session }: Transaction,
): Promise<boolean> {
  const { _id, rail } = statement;
  const mine = { _id, stage: 'receiving' } as const;
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
