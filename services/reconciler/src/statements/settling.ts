import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '@pesewa/messaging';
import type { AnyBulkWriteOperation } from 'mongodb';
import { compare, movementOf, type Outcome, type StatementPayment } from '../domain/statement-matching.ts';
import type { RailFee } from '../handlers.ts';
import type { WindowPayment, WindowPayments } from '../matching/payments.ts';
import {
  linesAbout,
  paymentRecordId,
  type RecordDocument,
  type StatedLine,
  type StatementDocument,
  type StatementStore,
} from './store.ts';
import { isCompared, mustHave, windowOf } from './window.ts';

/** The dependencies of {@link settle}. */
export interface SettlingDeps {
  readonly statementStore: StatementStore;
  readonly payments: Pick<WindowPayments, 'compared'>;
  readonly railFee: RailFee;
}

/**
 * Settles a page of ended payments by statements of their rail: lines that were compared before these ends were known are
 * compared again, and payments that lines or these statements compare are noted.
 *
 * @returns the records of those that must be in one of them, moved money and have no line
 */
export async function settle(
  deps: SettlingDeps,
  statements: readonly StatementDocument[],
  payments: readonly WindowPayment[],
  transaction: Transaction,
): Promise<readonly RecordDocument[]> {
  const trial = statements.find((statement) => statement.trial);
  const known = new Map(payments.map((one) => [one._id, one]));
  const placed = payments.map((payment) => ({
    payment,
    place: statements.find((statement) => mustHave(statement, payment)),
  }));
  const stated = await linesAbout(deps.statementStore, [...known.keys()], transaction, trial?._id);
  const lines = withoutPending(stated, placed);
  const outcomes = outcomesOf(lines, (reference) => {
    const found = known.get(reference);
    return found && toPayment(found, deps.railFee);
  });
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
export function withoutPending<Line extends Pick<StatedLine, 'payment' | 'row' | 'period'>>(
  lines: readonly Line[],
  placed: readonly {
    readonly payment: Pick<WindowPayment, '_id' | 'endedAt'>;
    readonly place: object | undefined;
  }[],
): readonly Line[] {
  const nameOf = ({ payment, row }: Line) => payment ?? row?.reference ?? undefined;
  const byPayment = Map.groupBy(lines, nameOf);
  const isBefore = ({ row, period }: Line, endedAt: Date | undefined) => {
    const until = row?.status === 'pending' && period && windowOf(period)?.to;
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

/** What lines say of payments as they are now, by line, as far as that is new. */
function outcomesOf(
  lines: readonly StatedLine[],
  paymentOf: (reference: string) => StatementPayment | undefined,
): ReadonlyMap<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  const keyOf = (run: string, uses: string) => `${run} ${uses}`;
  const taken = new Set(lines.flatMap(({ run, uses }) => (uses === undefined ? [] : [keyOf(run, uses)])));
  for (const { _id, run, rail, row, uses, ...before } of lines) {
    const payment =
      row?.reference === undefined || row.reference === null ? undefined : paymentOf(row.reference);
    if (!row || !payment) continue;
    const key = keyOf(run, movementOf(row, payment));
    const isFurther = uses === undefined && taken.has(key);
    const outcome: Outcome = isFurther
      ? { result: 'duplicate', payment: payment.reference }
      : compare(row, payment, rail);
    taken.add(key);
    const { result, differsIn, difference, feeDifference } = outcome;
    const isSame =
      before.result === result &&
      isDeepStrictEqual(before.differsIn, differsIn) &&
      before.difference === difference &&
      before.feeDifference === feeDifference;
    if (!isSame) outcomes.set(_id, outcome);
  }
  return outcomes;
}

/** All that an outcome may have set, and what was made of it. */
const OUTDATED = [
  'payment',
  'uses',
  'differsIn',
  'compared',
  'difference',
  'feeDifference',
  'breakId',
  'alsoCoveredBy',
  'hidden',
] as const satisfies readonly (keyof RecordDocument)[];

/** Stores what lines say now; their statements judge them again. */
async function writeOutcomes(
  deps: SettlingDeps,
  lines: readonly StatedLine[],
  outcomes: ReadonlyMap<string, Outcome>,
  transaction: Transaction,
): Promise<void> {
  const changed = lines.filter(({ _id }) => outcomes.has(_id));
  const writes = changed.map(({ _id }): AnyBulkWriteOperation<RecordDocument> => {
    const outcome = outcomes.get(_id) ?? {};
    const gone = OUTDATED.filter((field) => !(field in outcome)).map((field) => [field, true] as const);
    return { updateOne: { filter: { _id }, update: { $set: outcome, $unset: Object.fromEntries(gone) } } };
  });
  if (writes.length > 0)
    await deps.statementStore.records.bulkWrite(writes, { session: transaction.session, ordered: false });
  await matchAgain(deps, new Set(changed.map(({ run }) => run)), transaction);
}

/** What a payment without a line lacks of one. */
const nameless = { reference: null, railReference: null, fee: null };

/** The record of a payment without a line, if it moved money. */
function missingIn(
  { railFee }: SettlingDeps,
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
  { statementStore: { runs } }: SettlingDeps,
  changed: ReadonlySet<string>,
  { session }: Pick<Transaction, 'session'>,
): Promise<void> {
  if (changed.size === 0) return;
  await runs.updateMany(
    { _id: { $in: [...changed] }, stage: { $in: ['done', 'late'] } },
    [{ $set: { stage: 'breaks', running: true, dueAt: '$$NOW' } }, { $unset: ['rereading', 'counts'] }],
    { session },
  );
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
