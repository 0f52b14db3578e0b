import type { ExportFormat } from '@pesewa/contracts';
import { exportItems } from '../exports.ts';
import type { CloseProgress } from './closes.ts';
import type { CloseRecord } from './store.ts';
import { viewClose, viewRecord } from './views.ts';

/** Written for what a lookup does not report, which is not the same as zero. */
const NOT_REPORTED = 'not reported';

const HEADING = [
  'reference',
  'kind',
  'rail',
  'merchant',
  'currency',
  'ended_at',
  'result',
  'status_ours',
  'status_theirs',
  'status_difference',
  'amount_ours',
  'amount_theirs',
  'amount_difference',
  'fee_ours',
  'fee_theirs',
  'fee_difference',
  'why',
  'break',
  'fact_published',
  'asked_at',
  'tries',
] as const;

/**
 * Writes a close and its records as they are read, so that memory does not grow with them.
 *
 * JSON is one object, `{"close", "records"}`; CSV has one line per payment, and "not reported" for what a lookup does not
 * report.
 */
export function exportClose(
  progress: CloseProgress,
  records: AsyncIterable<CloseRecord>,
  format: ExportFormat,
): ReadableStream<Uint8Array> {
  const about = { name: 'close', view: viewClose(progress) };
  return exportItems({ items: records, heading: HEADING, rowOf, viewOf: viewRecord, about }, format);
}

function rowOf(record: CloseRecord): readonly string[] {
  const { ours, theirs, differences, ...view } = viewRecord(record);
  const known = (text: string | null) => text ?? NOT_REPORTED;
  const difference = (field: string) => differences.find((one) => one.field === field)?.amount ?? '';
  return [
    view.reference,
    view.kind,
    view.rail,
    view.merchantId,
    view.currency,
    view.endedAt,
    view.result,
    known(ours.status),
    known(theirs.status),
    difference('status'),
    known(ours.amount),
    known(theirs.amount),
    difference('amount'),
    known(ours.fee),
    known(theirs.fee),
    difference('fee'),
    view.why ?? '',
    view.breakId ?? '',
    view.factPublished ? 'yes' : 'no',
    view.askedAt ?? '',
    String(view.tries),
  ];
}
