import { createHash } from 'node:crypto';
import type { StatementMapping } from '@pesewa/contracts';
import type { Transaction } from '@pesewa/messaging';
import type { Db } from 'mongodb';
import { contentOf, type Outcome, type StatementResult } from '../domain/statement-matching.ts';
import type { Proposal } from '../domain/statement-proposal.ts';
import type { LineCounts } from '../domain/statement-records.ts';
import type { StatementRow } from '../domain/statement-rows.ts';
import {
  type MatchRecord,
  type MatchRun,
  type MatchStore,
  openMatchStore,
  recordId,
} from '../matching/store.ts';

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

/** A statement as MongoDB holds it: an upload of a file. */
export interface StatementDocument extends StatementTerms, MatchRun {
  /** Derived from its terms, so that the same file is the same statement; set once all of it is stored. */
  readonly name?: string;
  /** `receiving` until the whole file is stored; `dropped` is being deleted. */
  readonly stage: 'receiving' | 'gathering' | 'breaks' | 'done' | 'dropped';
  /** How many lines are stored. */
  readonly lines: number;
  /** What became of every line of the file, and the options that would read more of them; once all of it is stored. */
  readonly file?: LineCounts & { readonly proposal: Proposal | null };
  readonly currencies: readonly string[];
  /** The times of the first and the last line with a time. */
  readonly firstAt?: Date;
  readonly lastAt?: Date;
  /** Set if a line of it can't be read. */
  readonly hasUnreadable?: true;
  /** From which end on late ends are still to be taken up, if that was not done at once. */
  readonly lateFrom?: Date;
  /** How many breaks it has opened, and how many discrepancies exceeded the limit. */
  readonly opened: number;
  readonly hidden: number;
}

/** A line of a statement, named by its number, or a payment without one, named by `~` and its reference. */
export interface RecordDocument extends MatchRecord, Partial<Omit<Outcome, 'result'>> {
  readonly result: StatementResult;
  /** The number in the file of its first line; absent for a payment without one. */
  readonly line?: number;
  /** Absent if the line can't be read. */
  readonly row?: StatementRow;
  /** Why the line can't be read. */
  readonly reason?: string;
}

/** The statements of this service's database, and their records. */
export type StatementStore = MatchStore<StatementDocument, RecordDocument>;

/** Opens the store. */
export function openStatementStore(db: Db): StatementStore {
  return openMatchStore(db, { runs: 'statements', records: 'statement_records' });
}

/** A line of a statement whose file is stored, and that statement. */
export type StatedLine = RecordDocument & { readonly statement: StatementDocument };

/**
 * The lines that stand for movements of payments, or name them as unknown, those of the newest statement first: of all
 * whose file is stored, and of no dry run but the given one.
 */
export async function linesAbout(
  { runs, records }: Pick<StatementStore, 'runs' | 'records'>,
  references: readonly string[],
  { session }: Pick<Transaction, 'session'>,
  trial = '',
): Promise<readonly StatedLine[]> {
  const uses = { $in: references.flatMap((reference) => [reference, `${reference}/reversal`]) };
  const unknown = { result: 'not_in_books', 'row.reference': { $in: references } } as const;
  const lines = await records.find({ $or: [{ uses }, unknown] }, { session }).toArray();
  const byRun = Map.groupBy(lines, ({ run }) => run);
  const isListed = { $or: [{ trial: { $exists: false } }, { _id: trial }] };
  const stored = {
    ...isListed,
    _id: { $in: [...byRun.keys()] },
    stage: { $nin: ['receiving', 'dropped'] },
  } as const;
  const statements = await runs.find(stored, { session }).sort({ requestedAt: -1 }).toArray();
  return statements.flatMap((statement) =>
    (byRun.get(statement._id) ?? []).map((line) => ({ ...line, statement })),
  );
}

const NUMBER_DIGITS = 9;
const DIGEST_LENGTH = 32;

/** The `_id` of a line; they sort as the lines do. */
export function lineId(statement: string, number: number): string {
  return recordId(statement, String(number).padStart(NUMBER_DIGITS, '0'));
}

/** The `_id` of a statement's payment without a line; they sort behind the lines. */
export function paymentRecordId(statement: string, reference: string): string {
  return recordId(statement, `~${reference}`);
}

/** The subject of a break about a line: our reference, or a digest of the rail's own or else of the line's content. */
export function subjectOf(
  rail: string,
  { row, result, payment = '' }: Pick<RecordDocument, 'row' | 'result' | 'payment'>,
): string {
  if (!row) return payment;
  if (row.reference !== null && result !== 'duplicate') return row.reference;
  const said = row.railReference === null ? contentOf(row) : `rail ${row.railReference}`;
  const digest = createHash('sha256').update(`${rail}\n${said}`).digest('hex');
  return `line-${digest.slice(0, DIGEST_LENGTH)}`;
}
