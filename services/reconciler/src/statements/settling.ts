import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '@pesewa/messaging';
import type { AnyBulkWriteOperation } from 'mongodb';
import { matchByReference, type Outcome, type StatementPayment } from '../domain/statement-matching.ts';
import type { RailFee } from '../handlers.ts';
import type { WindowPayment } from '../matching/payments.ts';
import type { StatementDeps } from './deps.ts';
import {
  linesAbout,
  paymentRecordId,
  type RecordDocument,
  type StatedLine,
  type StatementDocument,
} from './store.ts';
import { isCompared, mustHave, windowOf } from './window.ts';

/**
 * Settles a page of ended payments by statements of their rail: lines that were compared before these ends were known are
 * compared again, and payments that lines or these statements compare are noted.
 *
 * @returns the records of those that must be in one of them, moved money and have no line
 */
export async function settle(
  deps: StatementDeps,
  statements: readonly StatementDocument[],
  payments: readonly WindowPayment[],
  transaction: Transaction,
): Promise<readonly RecordDocument[]> {
  const trial = statements.find((statement) => statement.trial);
  const placed = payments.map((payment) => ({
    payment,
    place: statements.find((statement) => mustHave(statement, payment)),
  }));
  const references = payments.map(({ _id }) => _id);
  const stated = await linesAbout(deps.statementStore, references, transaction, trial?._id);
  const lines = withoutPending(stated, placed);
  const outcomes = outcomesOf(lines, toPayments(payments, deps.railFee));
  const movements = movementsOf(lines, outcomes);
  if (!trial) {
    await writeOutcomes(deps, lines, outcomes, transaction);
    const settled = placed.filter(({ payment, place }) => isCompared(payment, movements, place));
    const compared = settled.map(({ payment }) => payment);
    await deps.payments.compared(compared, transaction.session);
  }
  return placed.flatMap(({ payment, place }) =>
    movements.has(payment._id) || !place ? [] : (missingIn(deps, place, payment) ?? []),
  );
}

/**
 * The lines without those that say of a payment only that it was pending, before it ended: the statement that must have
 * it, which has not come, tells more.
 */
export function withoutPending<Line extends Pick<StatedLine, 'payment' | 'row' | 'statement'>>(
  lines: readonly Line[],
  placed: readonly {
    readonly payment: Pick<WindowPayment, '_id' | 'endedAt'>;
    readonly place: object | undefined;
  }[],
): readonly Line[] {
  const nameOf = ({ payment, row }: Line) => payment ?? row?.reference ?? undefined;
  const byPayment = Map.groupBy(lines, nameOf);
  const isBefore = ({ row, statement }: Line, endedAt: Date | undefined) => {
    const until = row?.status === 'pending' && windowOf(statement)?.to;
    return until && endedAt && until <= endedAt;
  };
  const found = placed.flatMap(({ payment: { _id, endedAt }, place }) =>
    !place && byPayment.get(_id)?.every((line) => isBefore(line, endedAt)) ? _id : [],
  );
  const pending = new Set(found);
  return lines.filter((line) => !pending.has(nameOf(line) ?? ''));
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
    const found = matchByReference(rows, payments, new Map(), ofRun[0]?.statement.rail ?? '');
    for (const line of ofRun) {
      const outcome = found.get(line._id);
      if (outcome && SAID.some((field) => !isDeepStrictEqual(line[field], outcome[field])))
        outcomes.set(line._id, outcome);
    }
  }
  return outcomes;
}

/** What is news of a line if it changes. */
const SAID = ['result', 'differsIn', 'difference', 'feeDifference'] as const;

/** Stores what lines say now; their statements judge them again. */
async function writeOutcomes(
  deps: StatementDeps,
  lines: readonly StatedLine[],
  outcomes: ReadonlyMap<string, Outcome>,
  transaction: Transaction,
): Promise<void> {
  const writes = toUpdates(lines, outcomes);
  if (writes.length > 0)
    await deps.statementStore.records.bulkWrite([...writes], { session: transaction.session });
  const changed = lines.flatMap(({ _id, run }) => (outcomes.has(_id) ? run : []));
  await matchAgain(deps, new Set(changed), transaction);
}

/**
 * The updates of lines that have another outcome now, of which nothing of the former one is left; in order, because a
 * movement has only one line at any time.
 */
export function toUpdates(
  lines: readonly RecordDocument[],
  outcomes: ReadonlyMap<string, Outcome>,
): readonly AnyBulkWriteOperation<RecordDocument>[] {
  const updates = lines.flatMap(({ _id, run, line, row, keepUntil }) => {
    const outcome = outcomes.get(_id);
    const read = { run, keepUntil, ...(line !== undefined && { line }), ...(row && { row }) };
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
    difference: -amount,
    row: { ...nameless, kind, amount, currency, status: 'completed', atMs: endedAt.getTime() },
  };
}

/** Has statements that are matched open and close their breaks again. */
export async function matchAgain(
  { statementStore: { runs } }: StatementDeps,
  changed: ReadonlySet<string>,
  { session }: Pick<Transaction, 'session'>,
): Promise<void> {
  if (changed.size === 0) return;
  await runs.updateMany(
    { _id: { $in: [...changed] }, stage: 'done' },
    // What was asked for first comes first: a newer one judges what an older one says.
    [{ $set: { stage: 'breaks', running: true, dueAt: '$requestedAt' } }, { $unset: 'counts' }],
    { session },
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
