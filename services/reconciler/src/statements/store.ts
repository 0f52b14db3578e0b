import { createHash } from 'node:crypto';
import type { Collection, Db, Filter } from 'mongodb';
import type { StatementMapping } from '../domain/statement-mapping.ts';
import { contentOf, type How, type Outcome, type StatementResult } from '../domain/statement-matching.ts';
import type { LineStatus, StatementRow } from '../domain/statement-rows.ts';

/** What a statement is about: the same file, read the same way for the same time, is the same statement. */
export interface StatementTerms {
  readonly rail: string;
  /** The one that every line must have; null where each line tells its own. */
  readonly currency: string | null;
  /** Payments that ended from then until before `to` must be in it; null where the lines' own times tell. */
  readonly from: Date | null;
  readonly to: Date | null;
  readonly mapping: StatementMapping;
  /** SHA-256 of the file, in hex. */
  readonly digest: string;
}

/** Where the matching of a whole file stands. */
export type StatementStage = 'payments' | 'times' | 'missing' | 'breaks';

/** How many records have come to what. */
export type StatementCounts = { readonly [Result in StatementResult]?: number };

/** A statement as MongoDB holds it. */
export interface StatementDocument extends StatementTerms {
  /** Derived from its terms. */
  readonly _id: string;
  /** `dropped` is on its way out: its records are deleted before it is. */
  readonly status: 'receiving' | 'matching' | 'done' | 'dropped';
  readonly stage: StatementStage;
  readonly at: Date;
  readonly by: string;
  /** Set for a dry run, which opens no breaks and is gone once it is told. */
  readonly trial?: true;
  /** How many batches of lines are stored, and a digest that each one carries on from the one before. */
  readonly batches: number;
  readonly chain: string;
  readonly lines: number;
  /** How many lines are to be matched by amount and time. */
  readonly loose: number;
  readonly currencies: readonly string[];
  /** The times of the first and the last line that tell one. */
  readonly firstAt?: Date;
  readonly lastAt?: Date;
  readonly counts?: StatementCounts;
  /** Breaks that it has opened, and discrepancies beyond the bound on them. */
  readonly opened: number;
  readonly hidden: number;
  readonly doneAt?: Date;
}

/** A line of a statement, or a payment that has none; `_id` is `<statement>/<number>` or `<statement>/~<reference>`. */
export interface RecordDocument {
  readonly _id: string;
  readonly statement: string;
  readonly trial?: true;
  /** Where the line is in the file; absent for a payment without one. */
  readonly line?: number;
  /** Absent where the line can't be read. */
  readonly row?: StoredRow;
  readonly result?: StatementResult;
  readonly payment?: string;
  readonly uses?: string;
  /** What a break over the line would be about; of lines that name no payment, once they are paired. */
  readonly subject?: string;
  readonly how?: readonly How[];
  readonly difference?: bigint;
  readonly feeDifference?: bigint;
  readonly by?: 'reference' | 'amount and time';
  readonly confidence?: number;
  readonly candidates?: readonly string[];
  /** Why the line can't be read. */
  readonly reason?: string;
  /** Set on what is paired by amount and time. */
  readonly loose?: 'line' | 'payment';
  readonly lane?: string;
  /** Of lines that say exactly the same, which one it is, from the second on. */
  readonly copy?: number;
  readonly at?: Date;
  /** A payment that ended outside the window: it may be paired, and is not missed. */
  readonly outside?: true;
  readonly taken?: true;
  /** The break that tells of it: its own, or where others tell all of it the first of them. */
  readonly breakId?: string;
  /** Further breaks, where each tells a part of it. */
  readonly alsoToldBy?: readonly string[];
  /** Set where there was no room for a break. */
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

/** The `_id` of a payment of a statement that has no line; they sort behind the lines. */
export function paymentRecordId(statement: string, reference: string): string {
  return `${statement}/~${reference}`;
}

/** Every payment of a statement that has no line, or had none before lines were paired. */
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

/** What a record keeps of a line that names its payment. */
export function toStoredOutcome({
  result,
  payment,
  uses,
  how,
  difference,
  feeDifference,
}: Outcome): Partial<RecordDocument> {
  const isFound = result === 'matched' || result === 'differs';
  return {
    result,
    ...(payment !== undefined && { payment }),
    ...(uses !== undefined && { uses }),
    ...(how !== undefined && { how }),
    ...(difference !== undefined && { difference }),
    ...(feeDifference !== undefined && { feeDifference }),
    ...(isFound && { by: 'reference' as const, confidence: 1 }),
  };
}

/** What a break over a line is about: our reference, or a digest of the rail's own, or else of what the line says. */
export function subjectOf(
  rail: string,
  { row, result, payment = '', copy }: Pick<RecordDocument, 'row' | 'result' | 'payment' | 'copy'>,
): string {
  if (!row) return payment;
  if (row.reference !== undefined && result !== 'duplicate') return row.reference;
  const content = contentOf(toRow(row)) + (copy === undefined ? '' : `\n${copy}`);
  const said = row.railReference === undefined ? content : `rail ${row.railReference}`;
  return `line-${createHash('sha256').update(`${rail}\n${said}`).digest('hex').slice(0, DIGEST_LENGTH)}`;
}

const DIGEST_LENGTH = 32;
