import type { PaymentKind, RailStatementRecordView } from '@pesewa/contracts';
import type { Field } from './break-kinds.ts';
import type { TrackedStatus } from './claim.ts';
import type { StatementRow } from './statement-rows.ts';

/** A payment, with the fields that a statement's line is compared with; amounts in minor units. */
export interface StatementPayment {
  readonly reference: string;
  readonly kind: PaymentKind;
  readonly rail: string;
  readonly currency: string;
  readonly status: TrackedStatus;
  /** What moved at the rail: a payout's amount, or what a collection received. */
  readonly amount: bigint;
  /** The rail's charge for it. */
  readonly fee: bigint;
}

/** A field in which a line differs from what we have. */
export interface LineDifference {
  readonly field: Field;
  /** Set if another rail is why we don't have the payment there, or the line's direction why its status differs. */
  readonly how?: 'rail' | 'direction';
  /** The rail's movement less ours, or of a fee that alone, in minor units; null if the two can't be subtracted. */
  readonly minor: bigint | null;
}

/** A result that a record of a statement can have. */
export type StatementResult = NonNullable<RailStatementRecordView['result']>;

/** The result of a line that names a payment of ours. */
export interface Outcome {
  readonly result: 'matched' | 'differs' | 'not_in_books' | 'duplicate';
  readonly payment?: string;
  /** The movement of the payment that the line stands for: the payment itself, or its reversal. */
  readonly uses?: string;
  /** The fields of the payment that the line was compared in; it says nothing of any other. */
  readonly compared?: readonly Field[];
  readonly differences?: readonly LineDifference[];
}

/** A line with its number, which distinguishes it from the statement's other lines. */
export interface NumberedRow {
  readonly id: string;
  readonly row: StatementRow;
}

/**
 * The movement of a payment that a line stands for: a line against the payment's direction, or marked so, is the
 * reversal.
 */
export function movementOf(row: Pick<StatementRow, 'kind'>, { reference, kind }: StatementPayment): string {
  return row.kind === null || row.kind === kind ? reference : `${reference}/reversal`;
}

/**
 * Compares lines with the payments that they name; each movement is used by one line at most.
 *
 * Of several lines for one movement the one that differs least is used and the others are duplicates, whatever their
 * order.
 */
export function matchByReference(
  rows: readonly NumberedRow[],
  payments: ReadonlyMap<string, StatementPayment>,
  rail: string,
): ReadonlyMap<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  const holders = new Map<string, ComparedRow>();
  for (const { id, row } of rows) {
    const payment = row.reference === null ? undefined : payments.get(row.reference);
    if (!payment) {
      outcomes.set(id, notInBooks(row));
      continue;
    }
    const uses = movementOf(row, payment);
    const candidate = { id, row, outcome: compare(row, payment, rail) };
    const holder = holders.get(uses);
    const [nearest, other] =
      !holder || isNearer(candidate, holder) ? [candidate, holder] : [holder, candidate];
    holders.set(uses, nearest);
    outcomes.set(nearest.id, nearest.outcome);
    if (other) outcomes.set(other.id, { result: 'duplicate', payment: payment.reference });
  }
  return outcomes;
}

interface ComparedRow extends NumberedRow {
  readonly outcome: Outcome;
}

/** The result of a line without a payment. */
export function notInBooks(row: Pick<StatementRow, 'amount' | 'status'>): Outcome {
  const minor = row.status === 'completed' ? row.amount : 0n;
  return { result: 'not_in_books', differences: [{ field: 'existence', minor }] };
}

/**
 * Compares a line with its payment. A line against its direction shows money moved that our record lacks, and one of another
 * rail a payment that we don't have there.
 */
export function compare(row: StatementRow, payment: StatementPayment, rail: string): Outcome {
  const uses = movementOf(row, payment);
  const isReversal = uses !== payment.reference;
  const isOfCurrency = payment.currency === row.currency;
  const moves = row.status === 'completed' && movesHere(payment) && isOfCurrency;
  const moved = isOfCurrency ? movedMore(row, payment, isReversal) : null;
  const isAgainst = isReversal && row.kind !== 'reversal';
  const statusDiffers = isReversal ? payment.status !== 'reversed' : otherStatus(row, payment);
  const hasFee = moves && !isReversal && row.fee !== null;
  const checks: readonly (readonly [LineDifference, boolean])[] = [
    [{ field: 'existence', how: 'rail', minor: moved }, payment.rail !== rail],
    [{ field: 'currency', minor: moved }, !isOfCurrency],
    [{ field: 'status', ...(isAgainst && { how: 'direction' }), minor: moved }, statusDiffers],
    ...(moves ? [[{ field: 'amount', minor: moved }, payment.amount !== row.amount] as const] : []),
    ...(hasFee ? [[{ field: 'fee', minor: row.fee - payment.fee }, row.fee !== payment.fee] as const] : []),
  ];
  const differences = checks.flatMap(([difference, differs]) => (differs ? difference : []));
  const about = { payment: payment.reference, uses, compared: checks.map(([{ field }]) => field) };
  if (differences.length === 0) return { result: 'matched', ...about };
  return { result: 'differs', ...about, differences };
}

/** Whether our record has moved money at the rail at all, even if it came back. */
function movesHere({ status }: StatementPayment): boolean {
  return status === 'completed' || status === 'reversed';
}

function otherStatus({ status }: StatementRow, payment: StatementPayment): boolean {
  if (status === 'completed') return !movesHere(payment);
  return payment.status !== (status === 'pending' ? 'open' : status);
}

/** What a line has moved more than our record. */
function movedMore(row: StatementRow, payment: StatementPayment, isReversal: boolean): bigint {
  const there = row.status === 'completed' ? row.amount : 0n;
  if (isReversal) return (payment.status === 'reversed' ? payment.amount : 0n) - there;
  // If the payment is reversed on both sides, or reversed here and the rail has a separate line for the reversal, that
  // other line shows it.
  const here = payment.status === 'completed' || (row.status === 'completed' && movesHere(payment));
  return there - (here ? payment.amount : 0n);
}

/**
 * Whether a line fits a movement better than another; judged by content alone, so that the order of lines does not
 * matter.
 */
function isNearer(one: ComparedRow, other: ComparedRow): boolean {
  const [differences, than] = [one.outcome.differences ?? [], other.outcome.differences ?? []];
  if (differences.length !== than.length) return differences.length < than.length;
  const [by, thanBy] = [distance(differences), distance(than)];
  if (by !== thanBy) return by < thanBy;
  return contentOf(one.row) < contentOf(other.row);
}

function distance([first]: readonly LineDifference[]): bigint {
  const minor = first?.minor ?? 0n;
  return minor < 0n ? -minor : minor;
}

/** A line's content as one text; equal texts mean equal content. */
export function contentOf(row: StatementRow): string {
  const { reference, railReference, kind, amount, currency, fee, status, atMs } = row;
  return JSON.stringify([reference, railReference, kind, `${amount}`, currency, `${fee}`, status, atMs]);
}

/**
 * Whether a duplicate is another movement of money and not the same one listed twice: it has a different reference of
 * the rail or, without one, a different time.
 */
export function movedAgain(duplicate: StatementRow, line: StatementRow): boolean {
  if (duplicate.status !== 'completed') return false;
  return duplicate.railReference !== null && line.railReference !== null
    ? duplicate.railReference !== line.railReference
    : duplicate.atMs !== line.atMs;
}
