import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '@pesewa/messaging';
import type { AnyBulkWriteOperation, Filter } from 'mongodb';
import { matchByReference, type Outcome, type StatementPayment } from '../domain/statement-matching.ts';
import type { RailFee } from '../handlers.ts';
import type { WindowPayment } from '../matching/payments.ts';
import type { StatementDeps } from './deps.ts';
import {
  linesAbout,
  paymentRecordId,
  type RecordDocument,
  STORED,
  type StatedLine,
  type StatementDocument,
} from './store.ts';
import { isCompared, mustHave } from './window.ts';

/** A page of ended payments of a rail, in the order of their ends. */
export interface PaymentsOfRail {
  readonly rail: string;
  readonly payments: readonly WindowPayment[];
  /** The dry run with which they are compared, in place of all statements. */
  readonly trial?: StatementDocument;
}

/**
 * Compares payments with the statements of their rail: lines that were compared before these ends were known are compared
 * again, those that a statement must have and that moved money without a line are listed, and all that lines or these
 * statements compare are noted. Statements that are done and change have their breaks opened and closed again.
 */
export async function settle(
  deps: StatementDeps,
  { rail, payments, trial }: PaymentsOfRail,
  transaction: Transaction,
): Promise<void> {
  const { session } = transaction;
  const { runs, records } = deps.statementStore;
  const statements = trial
    ? [trial]
    : await runs.find(mayHave(rail, payments), { session }).sort({ requestedAt: -1 }).toArray();
  const placed = payments.map((payment) => ({
    payment,
    places: statements.filter((statement) => mustHave(statement, payment)),
  }));
  const references = payments.map(({ _id }) => _id);
  const stated = await linesAbout(deps.statementStore, references, transaction, { unknown: true, trial });
  const lines = withoutPending(stated, placed);
  const outcomes = outcomesOf(lines, toPayments(payments, deps.railFee));
  const movements = movementsOf(lines, outcomes);
  const missing = placed.flatMap(({ payment, places }) =>
    movements.has(payment._id) ? [] : places.flatMap((place) => missingIn(deps, place, payment) ?? []),
  );
  const listed = missing.map(({ _id, ...record }) => ({
    updateOne: { filter: { _id }, update: { $setOnInsert: record }, upsert: true },
  }));
  const writes = [...(trial ? [] : toUpdates(lines, outcomes)), ...listed];
  const written = writes.length > 0 ? await records.bulkWrite(writes, { session }) : undefined;
  if (trial) return;
  const compared = placed.filter(({ payment, places }) => isCompared(payment, movements, places));
  await deps.payments.compared(
    compared.map(({ payment }) => payment),
    session,
  );
  const fresh = new Set<unknown>(Object.values(written?.upsertedIds ?? {}));
  const changed = [...lines, ...missing].filter(({ _id }) => outcomes.has(_id) || fresh.has(_id));
  if (changed.length > 0)
    await matchAgain(deps, { _id: { $in: changed.map(({ run }) => run) } }, transaction);
}

/** The statements of a rail that may have to have one of these payments. */
function mayHave(rail: string, payments: readonly WindowPayment[]): Filter<StatementDocument> {
  const [first, last] = [payments[0]?.endedAt, payments.at(-1)?.endedAt];
  if (!first || !last) throw new Error('a payment that is to be compared has no end');
  // No period ends after the upload, which the index knows.
  const after = { requestedAt: { $gt: first }, 'window.to': { $gt: first } };
  return { rail, stage: { $in: [...STORED] }, 'window.from': { $lte: last }, ...after };
}

/**
 * The lines without those of statements that say of a payment only that it was pending, before it ended: the statement
 * that must have it, which has not come, tells more. Of each statement all lines of a payment stay or none, since a line
 * may take the movement of another.
 */
export function withoutPending<Line extends Pick<StatedLine, 'payment' | 'row' | 'run' | 'statement'>>(
  lines: readonly Line[],
  placed: readonly {
    readonly payment: Pick<WindowPayment, '_id' | 'endedAt'>;
    readonly places: readonly object[];
  }[],
): readonly Line[] {
  const unplaced = placed.filter(({ places }) => places.length === 0);
  const ends = new Map(unplaced.map(({ payment: { _id, endedAt } }) => [_id, endedAt]));
  const referenceOf = ({ payment, row }: Line) => payment ?? row?.reference ?? '';
  const waits = (line: Line) => {
    const endedAt = ends.get(referenceOf(line));
    const until = line.row?.status === 'pending' && line.statement.window?.to;
    return until && endedAt && until <= endedAt;
  };
  const groupOf = (line: Line) => `${line.run}/${referenceOf(line)}`;
  const telling = new Set(lines.filter((line) => !waits(line)).map(groupOf));
  return lines.filter((line) => telling.has(groupOf(line)));
}

/** The movements that lines stand for now: a line that says reversed stands for both, a pending reversal for none. */
export function movementsOf(
  lines: readonly Pick<StatedLine, '_id' | 'uses' | 'row'>[],
  outcomes: ReadonlyMap<string, Pick<Outcome, 'uses'>>,
): ReadonlySet<string> {
  const movements = lines.flatMap((line) => {
    const uses = outcomes.get(line._id)?.uses ?? line.uses;
    if (uses === undefined) return [];
    if (line.row?.status === 'reversed') return [uses, `${uses}/reversal`];
    return line.row?.status === 'pending' && uses.endsWith('/reversal') ? [] : [uses];
  });
  return new Set(movements);
}

/** What lines say of payments as they are now, statement by statement, as far as that is new. */
function outcomesOf(
  lines: readonly StatedLine[],
  payments: ReadonlyMap<string, StatementPayment>,
): ReadonlyMap<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  for (const ofRun of Map.groupBy(lines, ({ run }) => run).values()) {
    const rows = ofRun.flatMap(({ _id: id, row }) =>
      row && payments.has(row.reference ?? '') ? [{ id, row }] : [],
    );
    const found = matchByReference(rows, payments, ofRun[0]?.statement.rail ?? '');
    for (const line of ofRun) {
      const outcome = found.get(line._id);
      const isNews =
        line.result !== outcome?.result || !isDeepStrictEqual(line.differences, outcome.differences);
      if (outcome && isNews) outcomes.set(line._id, outcome);
    }
  }
  return outcomes;
}

/**
 * The updates of lines that have another outcome now, of which nothing of the former one is left but the breaks of other
 * subjects; in order, because a movement has only one line at any time.
 */
export function toUpdates(
  lines: readonly RecordDocument[],
  outcomes: ReadonlyMap<string, Outcome>,
): readonly AnyBulkWriteOperation<RecordDocument>[] {
  const updates = lines.flatMap(({ _id, run, line, row, keepUntil, breaks = [] }) => {
    const outcome = outcomes.get(_id);
    const others = breaks.filter((id) => !id.startsWith(`${row?.reference}/`));
    const kept = { run, keepUntil, ...(others.length > 0 && { breaks: others }) };
    const read = { ...kept, ...(line !== undefined && { line }), ...(row && { row }) };
    return outcome ? [{ replaceOne: { filter: { _id }, replacement: { ...read, ...outcome } } }] : [];
  });
  const losesPlace = ({ replaceOne: { replacement } }: (typeof updates)[number]) => !('uses' in replacement);
  return updates.toSorted((one, other) => Number(losesPlace(other)) - Number(losesPlace(one)));
}

/** What a payment without a line lacks of one. */
const nameless = { reference: null, railReference: null, fee: null };

/** The record of a payment without a line, if it moved money. */
function missingIn(
  { railFee }: StatementDeps,
  { _id: run, keepUntil }: StatementDocument,
  document: WindowPayment,
): RecordDocument | undefined {
  const payment = toPayment(document, railFee);
  const { endedAt, status } = document;
  if (!payment || !endedAt || (status !== 'completed' && status !== 'reversed')) return undefined;
  const { reference, kind, amount, currency } = payment;
  return {
    _id: paymentRecordId(run, reference),
    run,
    keepUntil,
    result: 'not_on_statement',
    payment: reference,
    differences: [{ field: 'status', minor: -amount }],
    row: { ...nameless, kind, amount, currency, status: 'completed', atMs: endedAt.getTime() },
  };
}

/** Has those of these statements that are done open and close their breaks again. */
export async function matchAgain(
  { statementStore: { runs } }: StatementDeps,
  which: Filter<StatementDocument>,
  transaction?: Pick<Transaction, 'session'>,
): Promise<void> {
  await runs.updateMany(
    { ...which, stage: 'done' },
    // What was asked for first comes first: a newer one judges what an older one says.
    [{ $set: { stage: 'breaks', running: true, dueAt: '$requestedAt' } }, { $unset: 'counts' }],
    { ...(transaction && { session: transaction.session }) },
  );
}

/** Payments as lines are compared with them, by reference. */
export function toPayments(
  payments: readonly WindowPayment[],
  railFee: RailFee,
): ReadonlyMap<string, StatementPayment> {
  return new Map(payments.flatMap((one) => toPayment(one, railFee) ?? []).map((one) => [one.reference, one]));
}

/** A payment as lines are compared with it; undefined while its terms are not known. */
export function toPayment(
  { _id, terms, status, received, charged }: Omit<WindowPayment, 'endedAt' | 'uncompared'>,
  railFee: RailFee,
): StatementPayment | undefined {
  if (!terms) return undefined;
  const { kind, rail, currency } = terms;
  const amount = received ?? terms.amount;
  // If another amount than asked was received, the fee differs too.
  const expected = amount === terms.amount ? terms.railFee : (railFee(rail, kind, amount) ?? terms.railFee);
  return { reference: _id, kind, rail, currency, status, amount, fee: charged ?? expected };
}
