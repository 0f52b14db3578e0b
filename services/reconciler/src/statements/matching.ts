import { railStatementResults } from '@pesewa/contracts';
import { unreachable } from '@pesewa/kernel';
import { inBatches } from '../batches.ts';
import type { EndedPayment, StatementPayments } from './payments.ts';
import {
  paymentRecordId,
  paymentRecords,
  type RecordDocument,
  type StatementCounts,
  type StatementDocument,
  type StatementStage,
  type StatementStore,
} from './store.ts';

/** The dependencies of {@link matchStage}. */
export interface MatchingDeps {
  readonly statementStore: StatementStore;
  readonly payments: StatementPayments;
  /** Called between pieces of work to keep the lease; throws if the lease is lost. */
  readonly keep: () => Promise<void>;
}

/** The period whose payments must be in the statement; undefined if nothing defines it. */
export function windowOf({ from, to, firstAt, lastAt }: StatementDocument): Window | undefined {
  const begins = from ?? firstAt;
  const ends = to ?? (lastAt && new Date(lastAt.getTime() + 1));
  return begins && ends && begins < ends ? { from: begins, to: ends } : undefined;
}

interface Window {
  readonly from: Date;
  readonly to: Date;
}

/** The currencies that a statement is about. */
function currenciesOf({ currency, currencies }: StatementDocument): readonly string[] {
  return currency === null ? currencies : [currency];
}

/**
 * Runs one stage of matching a complete file, from its beginning; gives the next stage.
 *
 * A stage that was interrupted is run again: it first removes what it had written, or writes the same.
 */
export async function matchStage(deps: MatchingDeps, statement: StatementDocument): Promise<StatementStage> {
  switch (statement.stage) {
    case 'payments':
      await listMissing(deps, statement);
      return 'copies';
    case 'copies':
      await numberCopies(deps, statement);
      return 'breaks';
    case 'breaks':
      return 'breaks';
    default:
      return unreachable(statement.stage);
  }
}

/** Lists the payments that ended in the window and have no line. */
async function listMissing(deps: MatchingDeps, statement: StatementDocument): Promise<void> {
  const { records } = deps.statementStore;
  await records.deleteMany({ ...paymentRecords(statement._id) });
  const window = windowOf(statement);
  if (!window) return;
  const { rail } = statement;
  for (const currency of currenciesOf(statement)) {
    for await (const page of deps.payments.endedIn({ rail, currency, ...window })) {
      await deps.keep();
      const missing = await withoutLine(deps, statement, page);
      // A payment may end anew during the reading and appear twice; what was found meanwhile is kept.
      const upserts = missing.map((payment) => {
        const { _id, ...document } = toPaymentRecord(statement, payment);
        return { updateOne: { filter: { _id }, update: { $setOnInsert: document }, upsert: true } };
      });
      if (upserts.length > 0) await records.bulkWrite(upserts, { ordered: false });
    }
  }
}

function toPaymentRecord(
  { _id: statement, trial }: StatementDocument,
  { reference, kind, amount, currency, endedAt }: EndedPayment,
): RecordDocument {
  return {
    _id: paymentRecordId(statement, reference),
    statement,
    ...(trial && { trial }),
    result: 'missing_there',
    payment: reference,
    difference: -amount,
    row: { kind, amount, currency, status: 'completed', at: endedAt },
  };
}

/** The payments of a page that no line uses, neither of this statement nor of another complete one. */
async function withoutLine(
  { statementStore: { statements, records } }: MatchingDeps,
  { _id }: StatementDocument,
  page: readonly EndedPayment[],
): Promise<readonly EndedPayment[]> {
  const uses = { $in: page.map(({ reference }) => reference) };
  const found = await records
    .find({ uses, $or: [{ statement: _id }, { trial: { $exists: false } }] })
    .project<Pick<RecordDocument, 'uses' | 'statement'>>({ _id: 0, uses: 1, statement: 1 })
    .toArray();
  const others = [...new Set(found.map(({ statement }) => statement))].filter((other) => other !== _id);
  const whole = new Set<string>([_id]);
  if (others.length > 0) {
    const finished = await statements
      .find({ _id: { $in: others }, status: { $in: ['matching', 'done'] } })
      .project<Pick<StatementDocument, '_id'>>({ _id: 1 })
      .toArray();
    for (const { _id: other } of finished) whole.add(other);
  }
  const used = new Set(found.filter(({ statement }) => whole.has(statement)).map((record) => record.uses));
  return page.filter(({ reference }) => !used.has(reference));
}

/** Numbers the lines with the same content: without any reference they are as many movements, each with its break. */
async function numberCopies(
  { statementStore, keep }: MatchingDeps,
  { _id }: StatementDocument,
): Promise<void> {
  const { records } = statementStore;
  const lines = records
    .find({ statement: _id, content: { $exists: true } })
    .project<Pick<RecordDocument, '_id' | 'content'>>({ content: 1 })
    .sort({ content: 1, _id: 1 });
  let before: string | undefined;
  let copy = 0;
  for await (const page of inBatches(lines, WRITES)) {
    await keep();
    const writes = page.flatMap((line) => {
      copy = line.content === before ? copy + 1 : 1;
      before = line.content;
      return copy === 1 ? [] : [{ updateOne: { filter: { _id: line._id }, update: { $set: { copy } } } }];
    });
    if (writes.length > 0) await records.bulkWrite(writes, { ordered: false });
  }
}

const WRITES = 1_000;

/** Counts the records of a statement by their results. */
export async function countResults({ records }: StatementStore, statement: string): Promise<StatementCounts> {
  const counts = await Promise.all(
    railStatementResults.map(
      async (result) => [result, await records.countDocuments({ statement, result })] as const,
    ),
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** Deletes the records of a statement in small batches, and then the statement itself. */
export async function dropStatement(
  { statements, records }: StatementStore,
  statement: string,
  keep: () => Promise<void>,
): Promise<void> {
  await statements.updateOne({ _id: statement }, { $set: { status: 'dropped' } });
  const ofStatement = { _id: { $gte: `${statement}/`, $lt: `${statement}0` } };
  for (;;) {
    const page = await records.find(ofStatement).project<{ _id: string }>({ _id: 1 }).limit(5_000).toArray();
    if (page.length === 0) break;
    await keep();
    await records.deleteMany({ _id: { $in: page.map(({ _id }) => _id) } });
  }
  await statements.deleteOne({ _id: statement });
}
