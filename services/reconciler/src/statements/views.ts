import {
  type RailStatementRecordView,
  type RailStatementView,
  railStatementResults,
} from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import type { Export } from '../exports.ts';
import type { RecordDocument, StatementDocument } from './store.ts';

/** Results that are not discrepancies. */
const AGREED: readonly string[] = ['matched', 'set_aside'];

/** A statement as operators see it; it has counts only once it is matched. */
export function viewStatement(statement: StatementDocument): RailStatementView {
  const { _id, rail, currency, stage, lines, file, counts, opened, hidden, finishedAt } = statement;
  const isMatching = stage === 'gathering' || stage === 'breaks';
  const { from, to } = statement.window ?? statement;
  const found =
    counts && Object.fromEntries(railStatementResults.map((result) => [result, counts[result] ?? 0]));
  const discrepancies = Object.entries(counts ?? {})
    .filter(([result]) => !AGREED.includes(result))
    .reduce((sum, [, count]) => sum + count, 0);
  return {
    id: _id,
    rail,
    currency,
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
    sha256: statement.digest,
    status: isMatching ? 'matching' : stage,
    stage: isMatching ? stage : null,
    lines,
    file: file ?? null,
    counts: found ?? null,
    discrepancies: counts ? discrepancies : null,
    breaksOpened: opened,
    breaksHidden: hidden,
    uploadedBy: statement.requestedBy,
    uploadedAt: statement.requestedAt.toISOString(),
    doneAt: finishedAt?.toISOString() ?? null,
  };
}

/** A record as operators see it; amounts in decimal text. */
export function viewRecord(record: RecordDocument): RailStatementRecordView {
  const { row, differences = [], breaks: [breakId = null, ...alsoCoveredBy] = [] } = record;
  const atMs = row?.atMs ?? null;
  const text = (minor: bigint | null = null) =>
    minor === null || !row ? null : formatAmount(minor, row.currency);
  return {
    id: record._id,
    line: record.line ?? null,
    result: record.result,
    payment: record.payment ?? null,
    differsIn: record.result === 'differs' ? differences.map(({ field, how }) => how ?? field) : [],
    difference: text(differences[0]?.minor),
    reference: row?.reference ?? null,
    railReference: row?.railReference ?? null,
    otherReference: row?.otherReference ?? null,
    kind: row?.kind ?? null,
    status: row?.status ?? null,
    statusWord: row?.statusWord ?? null,
    amount: text(row?.amount),
    fee: text(row?.fee),
    currency: row?.currency ?? null,
    at: atMs === null ? null : new Date(atMs).toISOString(),
    reason: record.reason ?? null,
    breakId,
    alsoCoveredBy,
  };
}

/** The columns of an export. */
export const statementColumns: Export<RecordDocument, RailStatementRecordView>['columns'] = {
  line: ({ line }) => line,
  result: ({ result }) => result,
  payment: ({ payment }) => payment,
  differs_in: ({ differsIn }) => differsIn,
  difference: ({ difference }) => difference,
  reference: ({ reference }) => reference,
  rail_reference: ({ railReference }) => railReference,
  other_reference: ({ otherReference }) => otherReference,
  kind: ({ kind }) => kind,
  status: ({ status }) => status,
  status_word: ({ statusWord }) => statusWord,
  amount: ({ amount }) => amount,
  fee: ({ fee }) => fee,
  currency: ({ currency }) => currency,
  at: ({ at }) => at,
  reason: ({ reason }) => reason,
  break: ({ breakId }) => breakId,
};
