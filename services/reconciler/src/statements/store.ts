import { createHash } from 'node:crypto';
import type { Collection, Db, Filter } from 'mongodb';
import type { StatementMapping } from '../domain/statement-mapping.ts';
import { contentOf, type Outcome, type StatementResult } from '../domain/statement-matching.ts';
import type { LineStatus, StatementRow } from '../domain/statement-rows.ts';

/** The terms of a statement: the same file, read in the same way for the same period, is the same statement. */
export interface StatementTerms {
  readonly rail: string;
  /** The currency that every line must have; null if each line names its own. */
  readonly currency: string | null;
  /** Payments that ended from then until before `to` must be in it; null if the lines' own times define the period. */
  readonly from: Date | null;
  readonly to: Date | null;
  readonly mapping: StatementMapping;
  /** SHA-256 of the file, in hex. */
  readonly digest: string;
}

/** The next stage of matching a complete file. */
export type StatementStage = 'payments' | 'copies' | 'breaks';

/** How many records have each result. */
export type StatementCounts = { readonly [Result in StatementResult]?: number };

/** A statement as MongoDB holds it. */
export interface StatementDocument extends StatementTerms {
  /** Derived from its terms. */
  readonly _id: string;
  /** `dropped` is being deleted: first its records, then the statement. */
  readonly status: 'receiving' | 'matching' | 'done' | 'dropped';
  readonly stage: StatementStage;
  readonly at: Date;
  readonly by: string;
  /** Set for a dry run, which opens no breaks and is deleted once its result was given. */
  readonly trial?: true;
  /** How many batches of lines are stored, and a digest that each batch continues from the one before. */
  readonly batches: number;
  readonly chain: string;
  readonly lines: number;
  readonly currencies: readonly string[];
  /** The times of the first and the last line with a time. */
  readonly firstAt?: Date;
  readonly lastAt?: Date;
  readonly counts?: StatementCounts;
  /** How many breaks it has opened, and how many discrepancies exceeded the limit. */
  readonly opened: number;
  readonly hidden: number;
  readonly doneAt?: Date;
}

/** A line of a statement, or a payment without one; `_id` is `<statement>/<number>` or `<statement>/~<reference>`. */
export interface RecordDocument extends Partial<Omit<Outcome, 'result'>> {
  readonly _id: string;
  readonly statement: string;
  readonly trial?: true;
  /** The line number in the file; absent for a payment without one. */
  readonly line?: number;
  /** Absent if the line can't be read. */
  readonly row?: StoredRow;
  readonly result?: StatementResult;
  /** Why the line can't be read. */
  readonly reason?: string;
  /** A digest of what a line says that has a time and no reference at all; equal ones are as many movements. */
  readonly content?: string;
  /** The number among lines with exactly the same content, from the second on. */
  readonly copy?: number;
  /** The break about it: its own or, if other breaks cover all of it, the first of them. */
  readonly breakId?: string;
  /** Further breaks, if several cover a part each. */
  readonly alsoCoveredBy?: readonly string[];
  /** Set if the limit of breaks was reached. */
  readonly hidden?: true;
}

/** A line as it is stored, amounts in minor units. */
export interface StoredRow {
  readonly reference?: string;
  readonly railReference?: string;
  readonly kind?: 'payout' | 'collection' | 'reversal';
  readonly amount: bigint;
  readonly currency: string;
  readonly fee?: bigint;
  readonly status: LineStatus;
  readonly at?: Date;
}

/** The statements of this service's database. */
export interface StatementStore {
  readonly statements: Collection<StatementDocument>;
  readonly records: Collection<RecordDocument>;
}

/** Opens the store. */
export function openStatementStore(db: Db): StatementStore {
  const statements = db.collection<StatementDocument>('statements');
  const records = db.collection<RecordDocument>('statement_records');
  return { statements, records };
}

const NUMBER_DIGITS = 9;

/** The `_id` of a line; they sort as the lines do. */
export function lineId(statement: string, number: number): string {
  return `${statement}/${String(number).padStart(NUMBER_DIGITS, '0')}`;
}

/** The `_id` of a statement's payment without a line; they sort behind the lines. */
export function paymentRecordId(statement: string, reference: string): string {
  return `${statement}/~${reference}`;
}

/** All payments of a statement that have no line. */
export function paymentRecords(statement: string): Filter<RecordDocument> {
  return { _id: { $gte: `${statement}/~`, $lt: `${statement}/~~` } };
}

/** A line as it is stored. */
export function toStoredRow(row: StatementRow): StoredRow {
  const { reference, railReference, kind, fee, atMs, amount, currency, status } = row;
  return {
    ...(reference !== null && { reference }),
    ...(railReference !== null && { railReference }),
    ...(kind !== null && { kind }),
    amount,
    currency,
    ...(fee !== null && { fee }),
    status,
    ...(atMs !== null && { at: new Date(atMs) }),
  };
}

/** A line as it is matched. */
export function toRow(stored: StoredRow): StatementRow {
  const { reference = null, railReference = null, kind = null, fee = null, at, ...rest } = stored;
  return { ...rest, reference, railReference, kind, fee, atMs: at?.getTime() ?? null };
}

/** The subject of a break about a line: our reference, or a digest of the rail's own or else of the line's content. */
export function subjectOf(
  rail: string,
  { row, result, payment = '', copy }: Pick<RecordDocument, 'row' | 'result' | 'payment' | 'copy'>,
): string {
  if (!row) return payment;
  if (row.reference !== undefined && result !== 'duplicate') return row.reference;
  const content = contentOf(toRow(row)) + (copy === undefined ? '' : `\n${copy}`);
  const said = row.railReference === undefined ? content : `rail ${row.railReference}`;
  return `line-${digestOf(`${rail}\n${said}`)}`;
}

/** A short digest of a text. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
}

const DIGEST_LENGTH = 32;
