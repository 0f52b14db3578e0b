import {
  type ExportFormat,
  type RailStatementRecordView,
  type RailStatementView,
  railStatementResults,
} from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { exportItems } from '../exports.ts';
import { windowOf } from './matching.ts';
import type { RecordDocument, StatementDocument } from './store.ts';

/** Results that are not discrepancies. */
const AGREED: readonly string[] = ['matched', 'set_aside'];

/** A statement as operators see it; it has counts only once it is matched. */
export function viewStatement(statement: StatementDocument): RailStatementView {
  const { _id, rail, currency, status, stage, at, by, lines, counts, opened, hidden, doneAt } = statement;
  const window = windowOf(statement);
  const found =
    counts && Object.fromEntries(railStatementResults.map((result) => [result, counts[result] ?? 0]));
  const discrepancies = Object.entries(counts ?? {})
    .filter(([result]) => !AGREED.includes(result))
    .reduce((sum, [, count]) => sum + count, 0);
  return {
    id: _id,
    rail,
    currency,
    from: window?.from.toISOString() ?? null,
    to: window?.to.toISOString() ?? null,
    sha256: statement.digest,
    status,
    stage: status === 'matching' ? stage : null,
    lines,
    counts: found ?? null,
    discrepancies: counts ? discrepancies : null,
    breaksOpened: opened,
    breaksHidden: hidden,
    uploadedBy: by,
    uploadedAt: at.toISOString(),
    doneAt: doneAt?.toISOString() ?? null,
  };
}

/** A record as operators see it; amounts in decimal text. */
export function viewRecord(record: RecordDocument): RailStatementRecordView {
  const { row } = record;
  const text = (minor: bigint | undefined) =>
    minor === undefined || !row ? null : formatAmount(minor, row.currency);
  return {
    id: record._id,
    line: record.line ?? null,
    result: record.result ?? null,
    payment: record.payment ?? null,
    how: record.how ?? [],
    difference: text(record.difference),
    reference: row?.reference ?? null,
    railReference: row?.railReference ?? null,
    kind: row?.kind ?? null,
    status: row?.status ?? null,
    amount: text(row?.amount),
    fee: text(row?.fee),
    currency: row?.currency ?? null,
    at: row?.at?.toISOString() ?? null,
    reason: record.reason ?? null,
    breakId: record.breakId ?? null,
    alsoCoveredBy: record.alsoCoveredBy ?? [],
  };
}

/** The columns of an export, by the fields of its records. */
const FIELDS = {
  line: 'line',
  result: 'result',
  payment: 'payment',
  how: 'how',
  difference: 'difference',
  reference: 'reference',
  rail_reference: 'railReference',
  kind: 'kind',
  status: 'status',
  amount: 'amount',
  fee: 'fee',
  currency: 'currency',
  at: 'at',
  reason: 'reason',
  break: 'breakId',
} as const satisfies Readonly<Record<string, keyof RailStatementRecordView>>;

const columns = Object.fromEntries(
  Object.entries(FIELDS).map(([column, field]) => [column, (view: RailStatementRecordView) => view[field]]),
);

/** Writes records as they are read, so that memory does not grow with them; JSON is `{"statement","records"}`. */
export function exportRecords(
  statement: StatementDocument,
  records: AsyncIterable<RecordDocument>,
  format: ExportFormat,
): ReadableStream<Uint8Array> {
  const about = { name: 'statement', view: viewStatement(statement) };
  return exportItems({ items: records, viewOf: viewRecord, columns, about }, format);
}
