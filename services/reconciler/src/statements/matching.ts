import { railStatementResults } from '@pesewa/contracts';
import { unreachable } from '@pesewa/kernel';
import type { AnyBulkWriteOperation } from 'mongodb';
import { inBatches } from '../batches.ts';
import { PAIRED_WITHIN_MS, pairingKeyOf } from '../domain/statement-pairing.ts';
import { createCopies, pairInOrder } from './pairs.ts';
import type { EndedPayment, StatementPayments } from './payments.ts';
import {
  paymentRecordId,
  paymentRecords,
  type RecordDocument,
  type StatementCounts,
  type StatementDocument,
  type StatementStage,
  type StatementStore,
  subjectOf,
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

/** The period of payments to read: the window, and the surroundings of lines to be paired. */
function timesOf(
  { loose, firstAt, lastAt }: StatementDocument,
  window: Window | undefined,
): Window | undefined {
  if (loose === 0 || !firstAt || !lastAt) return window;
  const begins = [firstAt, window?.from ?? firstAt].map(Number);
  const ends = [lastAt, window?.to ?? lastAt].map(Number);
  return {
    from: new Date(Math.min(...begins) - PAIRED_WITHIN_MS),
    to: new Date(Math.max(...ends) + PAIRED_WITHIN_MS + 1),
  };
}

/** The currencies that a statement is about. */
function currenciesOf({ currency, currencies }: StatementDocument): readonly string[] {
  return currency === null ? currencies : [currency];
}

/**
 * Runs one stage of matching a complete file, from its beginning; gives the next stage.
 *
 * A stage that was interrupted is run again: it first removes what it had written.
 */
export async function matchStage(deps: MatchingDeps, statement: StatementDocument): Promise<StatementStage> {
  switch (statement.stage) {
    case 'payments':
      await listPayments(deps, statement);
      return 'times';
    case 'times':
      if (statement.loose > 0) {
        await pairLines(deps, statement);
        await resolveAmbiguous(deps, statement);
      }
      return 'missing';
    case 'missing':
      await reportMissing(deps, statement);
      return 'breaks';
    case 'breaks':
      return 'breaks';
    default:
      return unreachable(statement.stage);
  }
}

/** Lists the payments that have no line by reference and ended in the window or, if lines must be paired, near it. */
async function listPayments(deps: MatchingDeps, statement: StatementDocument): Promise<void> {
  const { records } = deps.statementStore;
  await records.deleteMany({ ...paymentRecords(statement._id) });
  const window = windowOf(statement);
  const times = timesOf(statement, window);
  if (!times) return;
  const { rail } = statement;
  for (const currency of currenciesOf(statement)) {
    for await (const page of deps.payments.endedIn({ rail, currency, ...times })) {
      await deps.keep();
      const unused = await withoutLine(deps, statement, page);
      const documents = unused.map((payment) => toPaymentRecord(statement, payment, window));
      // A payment may end anew during the reading and appear twice; what was found meanwhile is kept.
      await writeAll(
        deps,
        documents.map(({ _id, ...document }) => ({
          updateOne: { filter: { _id }, update: { $setOnInsert: document }, upsert: true },
        })),
      );
    }
  }
}

function toPaymentRecord(
  { _id: statement, trial }: StatementDocument,
  { reference, kind, amount, currency, endedAt }: EndedPayment,
  window: Window | undefined,
): RecordDocument {
  return {
    _id: paymentRecordId(statement, reference),
    statement,
    ...(trial && { trial }),
    payment: reference,
    difference: -amount,
    row: { kind, amount, currency, status: 'completed', at: endedAt },
    loose: 'payment',
    pairingKey: pairingKeyOf({ kind, currency, amount }),
    at: endedAt,
    ...(!(window && window.from <= endedAt && endedAt < window.to) && { outside: true as const }),
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

/** Pairs lines with payments by amount and time. */
async function pairLines(deps: MatchingDeps, statement: StatementDocument): Promise<void> {
  const { records } = deps.statementStore;
  const { _id } = statement;
  const forgotten = { result: true, uses: true, payment: true, difference: true, by: true } as const;
  await records.updateMany(
    { statement: _id, loose: 'line' },
    { $unset: { ...forgotten, confidence: true, candidates: true, subject: true, copy: true } },
  );
  await records.updateMany({ statement: _id, loose: 'payment' }, { $unset: { taken: true, result: true } });
  const inOrder = (loose: 'line' | 'payment') =>
    records.find({ statement: _id, loose }).sort({ pairingKey: 1, at: 1, _id: 1 });
  let writes: AnyBulkWriteOperation<RecordDocument>[] = [];
  const flush = async () => {
    await deps.keep();
    await writeAll(deps, writes);
    writes = [];
  };
  const copyOf = createCopies();
  for await (const { record: line, pairing } of pairInOrder(inOrder('line'), inOrder('payment'))) {
    const copy = copyOf(line);
    const record = { ...line, ...copy };
    const update = (set: Partial<RecordDocument>) =>
      writes.push({ updateOne: { filter: { _id: record._id }, update: { $set: { ...set, ...copy } } } });
    if (pairing.kind === 'paired') {
      const { with: payment, confidence } = pairing;
      const subject = subjectOf(statement.rail, record);
      update({ result: 'matched', by: 'amount and time', payment, uses: payment, confidence, subject });
      const taken = { $set: { taken: true as const } };
      writes.push({ updateOne: { filter: { _id: paymentRecordId(_id, payment) }, update: taken } });
    } else if (pairing.kind === 'ambiguous') {
      update({ result: 'ambiguous', candidates: pairing.candidates });
    } else {
      update({ result: 'missing_here', difference: record.row?.amount ?? 0n });
    }
    if (writes.length >= WRITES) await flush();
  }
  await flush();
}

const WRITES = 1_000;

/** Removes from ambiguous lines the payments that other lines have got; the remaining ones are ambiguous themselves. */
async function resolveAmbiguous(deps: MatchingDeps, { _id }: StatementDocument): Promise<void> {
  const { records } = deps.statementStore;
  for await (const page of inBatches(records.find({ statement: _id, result: 'ambiguous', loose: 'line' }))) {
    await deps.keep();
    const ids = page.flatMap(({ candidates = [] }) => candidates.map((one) => paymentRecordId(_id, one)));
    const free = new Set(
      (await records.find({ _id: { $in: ids }, taken: { $exists: false } }).toArray()).map(
        ({ payment }) => payment,
      ),
    );
    await writeAll(
      deps,
      page.flatMap(({ _id: line, candidates = [], row }): AnyBulkWriteOperation<RecordDocument>[] => {
        const left = candidates.filter((one) => free.has(one));
        const none = { result: 'missing_here' as const, difference: row?.amount ?? 0n };
        const update =
          left.length === 0
            ? { $set: none, $unset: { candidates: true } as const }
            : { $set: { candidates: left } };
        return [
          { updateOne: { filter: { _id: line }, update } },
          ...left.map((one) => ({
            updateOne: {
              filter: { _id: paymentRecordId(_id, one) },
              update: { $set: { result: 'ambiguous' as const } },
            },
          })),
        ];
      }),
    );
  }
}

/** Listed payments without a line are now missing there; the others need no record of their own. */
async function reportMissing(deps: MatchingDeps, { _id }: StatementDocument): Promise<void> {
  const { records } = deps.statementStore;
  const listed = paymentRecords(_id);
  await records.deleteMany({ $and: [listed, { $or: [{ taken: true }, { outside: true }] }] });
  await deps.keep();
  await records.updateMany(
    { $and: [listed, { result: { $exists: false } }] },
    { $set: { result: 'missing_there' } },
  );
}

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

async function writeAll(
  { statementStore }: MatchingDeps,
  writes: readonly AnyBulkWriteOperation<RecordDocument>[],
): Promise<void> {
  if (writes.length > 0) await statementStore.records.bulkWrite([...writes], { ordered: false });
}
