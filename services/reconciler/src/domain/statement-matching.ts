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

/** The fields in which a line and its payment may differ. */
export type How = 'rail' | 'currency' | 'direction' | 'status' | 'amount' | 'fee';

/** A result that a record of a statement can have. */
export type StatementResult = NonNullable<RailStatementRecordView['result']>;

/** The result of a line that names a payment of ours. */
export interface Outcome {
  readonly result: 'matched' | 'differs' | 'not_in_books' | 'duplicate';
  readonly payment?: string;
  /** The movement of the payment that the line stands for: the payment itself, or its reversal. */
  readonly uses?: string;
  readonly differsIn?: readonly How[];
  /** The fields of the payment that the line was compared in; it says nothing of any other. */
  readonly compared?: readonly Field[];
  /** The rail's movement less ours, in minor units; absent if the two can't be subtracted. */
  readonly difference?: bigint;
  /** The same for the fee alone, if that differs. */
  readonly feeDifference?: bigint;
}

/** A line with its number, which distinguishes it from the statement's other lines. */
export interface NumberedRow {
  readonly id: string;
  readonly row: StatementRow;
}

/** The line that holds its movement so far. */
export interface HeldRow extends NumberedRow {
  readonly outcome: Pick<Outcome, 'differsIn' | 'difference'>;
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
 * order. A line used so far may lose its place, and is then among the outcomes.
 */
export function matchByReference(
  rows: readonly NumberedRow[],
  payments: ReadonlyMap<string, StatementPayment>,
  held: ReadonlyMap<string, HeldRow>,
  rail: string,
): ReadonlyMap<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  const holders = new Map(held);
  for (const { id, row } of rows) {
    const payment = row.reference === null ? undefined : payments.get(row.reference);
    if (!payment) {
      outcomes.set(id, notInBooks(row));
      continue;
    }
    const outcome = compare(row, payment, rail);
    const candidate = { id, row, outcome };
    const uses = movementOf(row, payment);
    const holder = holders.get(uses);
    const isBetter = !holder || isNearer(candidate, holder);
    if (isBetter) {
      holders.set(uses, candidate);
      outcomes.set(id, outcome);
    }
    const other = isBetter ? holder : candidate;
    if (other) outcomes.set(other.id, { result: 'duplicate', payment: payment.reference });
  }
  return outcomes;
}

/** The result of a line without a payment. */
export function notInBooks(row: Pick<StatementRow, 'amount' | 'status'>): Outcome {
  return { result: 'not_in_books', difference: row.status === 'completed' ? row.amount : 0n };
}

/** Compares a line with its payment. */
export function compare(row: StatementRow, payment: StatementPayment, rail: string): Outcome {
  const uses = movementOf(row, payment);
  const isReversal = uses !== payment.reference;
  const statusHow = isReversal ? reversalHow(row, payment) : statusDiffers(row, payment) ? 'status' : null;
  const isOfCurrency = payment.currency === row.currency;
  const moves = row.status === 'completed' && movesHere(payment) && isOfCurrency;
  const hasFee = moves && !isReversal && row.fee !== null;
  const checks: readonly (readonly [Field, How | false | null])[] = [
    ['existence', payment.rail !== rail && 'rail'],
    ['currency', !isOfCurrency && 'currency'],
    ['status', statusHow],
    ...(moves ? [['amount', payment.amount !== row.amount && 'amount'] as const] : []),
    ...(hasFee ? [['fee', row.fee !== payment.fee && 'fee'] as const] : []),
  ];
  const differsIn = checks.flatMap(([, how]) => how || []);
  const about = { payment: payment.reference, uses, compared: checks.map(([field]) => field) };
  if (differsIn.length === 0) return { result: 'matched', ...about };
  const difference = differenceOf(row, payment, isReversal);
  return {
    result: 'differs',
    ...about,
    differsIn,
    ...(difference !== undefined && { difference }),
    ...(differsIn.includes('fee') && row.fee !== null && { feeDifference: row.fee - payment.fee }),
  };
}

/**
 * The amounts by which a line differs from its payment, by field. A line against its direction shows money moved that our
 * record lacks, and one of another rail a payment that we don't have there.
 */
export function differencesOf({
  differsIn = [],
  difference,
  feeDifference,
}: Pick<Outcome, 'differsIn' | 'difference' | 'feeDifference'>): ReadonlyMap<Field, bigint | null> {
  const fields = { rail: 'existence', direction: 'status' } as const;
  return new Map(
    differsIn.map((one) => [
      one === 'rail' || one === 'direction' ? fields[one] : one,
      (one === 'fee' ? feeDifference : difference) ?? null,
    ]),
  );
}

/** Whether our record has moved money at the rail at all, even if it came back. */
function movesHere({ status }: StatementPayment): boolean {
  return status === 'completed' || status === 'reversed';
}

function statusDiffers({ status }: StatementRow, payment: StatementPayment): boolean {
  if (status === 'completed') return !movesHere(payment);
  return payment.status !== (status === 'pending' ? 'open' : status);
}

/**
 * The difference of a reversal that we don't know of; a line that is merely in the wrong direction is reported as that.
 */
function reversalHow({ kind }: StatementRow, { status }: StatementPayment): How | null {
  if (status === 'reversed') return null;
  return kind === 'reversal' ? 'status' : 'direction';
}

function differenceOf(row: StatementRow, payment: StatementPayment, isReversal: boolean): bigint | undefined {
  if (row.currency !== payment.currency) return undefined;
  const there = row.status === 'completed' ? row.amount : 0n;
  if (isReversal) return (payment.status === 'reversed' ? payment.amount : 0n) - there;
  // If the payment is reversed on both sides, or reversed here and the rail has a separate line for the reversal, that
  // other line shows it.
  const here = payment.status === 'completed' || (row.status === 'completed' && movesHere(payment));
  const moved = there - (here ? payment.amount : 0n);
  return moved !== 0n || row.fee === null || row.status !== 'completed' ? moved : row.fee - payment.fee;
}

/**
 * Whether a line fits a movement better than another; judged by content alone, so that the order of lines does not
 * matter.
 */
function isNearer(one: HeldRow, other: HeldRow): boolean {
  const [differences, than] = [one.outcome.differsIn?.length ?? 0, other.outcome.differsIn?.length ?? 0];
  if (differences !== than) return differences < than;
  const [by, thanBy] = [distance(one.outcome), distance(other.outcome)];
  if (by !== thanBy) return by < thanBy;
  return contentOf(one.row) < contentOf(other.row);
}

function distance({ difference = 0n }: Pick<Outcome, 'difference'>): bigint {
  return difference < 0n ? -difference : difference;
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
