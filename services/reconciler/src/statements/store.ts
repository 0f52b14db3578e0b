import { createHash } from 'node:crypto';
import type { StatementMapping } from '@pesewa/contracts';
import type { Transaction } from '@pesewa/messaging';
import type { Db, Filter } from 'mongodb';
import { contentOf, type Outcome, type StatementResult } from '../domain/statement-matching.ts';
import type { Proposal } from '../domain/statement-proposal.ts';
import type { LineCounts } from '../domain/statement-records.ts';
import type { StatementRow } from '../domain/statement-rows.ts';
import type { Window } from '../matching/payments.ts';
import {
  type MatchRecord,
  type MatchRun,
  type MatchStore,
  openMatchStore,
  recordId,
} from '../matching/store.ts';

/** The terms of a statement: the same file for the same period is the same statement, which another mapping reads anew. */
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
  /** Derived from its file and period, so that both have one statement; set once all of it is stored. */
  readonly name?: string;
  /** The one that reads the same file by another mapping. */
  readonly replacedBy?: string;
  /** `receiving` until the whole file is stored; `dropped` is being deleted. */
  readonly stage: 'receiving' | 'gathering' | 'breaks' | 'done' | 'dropped';
  /** How many lines are stored. */
  readonly lines: number;
  /** What became of every line of the file, and the options that would read more of them; once all of it is stored. */
  readonly file?: LineCounts & { readonly proposal: Proposal | null };
  readonly currencies: readonly string[];
  /** The payments that must be in it; once all of it is stored, unless nothing defines the period. */
  readonly window?: Window;
  /** Set if a line of it can't be read. */
  readonly hasUnreadable?: true;
  /** How many breaks it has opened, and how many discrepancies exceeded the limit. */
  readonly opened: number;
  readonly hidden: number;
  /** From which end on the rest of the rail's late ends is to be taken up. */
  readonly lateFrom?: Date;
}

/** The stages of a statement of which the whole file is stored. */
export const STORED = ['gathering', 'breaks', 'done'] as const;

/** A line of a statement, named by its number, or a payment without one, named by `~` and its reference. */
export interface RecordDocument extends MatchRecord, Partial<Omit<Outcome, 'result'>> {
  readonly result: StatementResult;
  /** The number in the file of its first line; absent for a payment without one. */
  readonly line?: number;
  /** Absent if the line can't be read. */
  readonly row?: StatementRow;
  /** Why the line can't be read. */
  readonly reason?: string;
  /**
   * The breaks that it opened, or of which it says the same, that of its own field first; and those that stand of the same
   * line as another mapping has read it.
   */
  readonly breaks?: readonly string[];
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
 * The lines that stand for movements of payments or, if asked for, name them as unknown, those of the newest statement
 * first: of all whose file is stored, and of a dry run that is given.
 */
export async function linesAbout(
  { runs, records }: Pick<StatementStore, 'runs' | 'records'>,
  references: readonly string[],
  { session }: Pick<Transaction, 'session'>,
  {
    unknown = false,
    trial,
  }: { readonly unknown?: boolean; readonly trial?: StatementDocument | undefined } = {},
): Promise<readonly StatedLine[]> {
  const about = [usesOf(references), ...(unknown ? [unknownOf(references)] : [])];
  const lines = await records.find({ $or: about }, { session }).toArray();
  const byRun = Map.groupBy(lines, ({ run }) => run);
  const stored = { _id: { $in: [...byRun.keys()] }, stage: { $in: [...STORED] } };
  const statements = await runs.find(stored, { session }).sort({ requestedAt: -1 }).toArray();
  return [...(trial ? [trial] : []), ...statements].flatMap((statement) =>
    (byRun.get(statement._id) ?? []).map((line) => ({ ...line, statement })),
  );
}

/** Which lines stand for movements of payments. */
export function usesOf(references: readonly string[]): Filter<RecordDocument> {
  return { uses: { $in: references.flatMap((reference) => [reference, `${reference}/reversal`]) } };
}

/** Which lines name payments as unknown. */
export function unknownOf(references: readonly string[]): Filter<RecordDocument> {
  return { result: 'not_in_books', 'row.reference': { $in: [...references] } };
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
