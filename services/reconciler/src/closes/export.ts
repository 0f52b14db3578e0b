import type { CloseRecordView, ExportFormat } from '@pesewa/contracts';
import { type Export, exportItems } from '../exports.ts';
import type { CloseProgress } from './closes.ts';
import type { CloseRecord } from './store.ts';
import { viewClose, viewRecord } from './views.ts';

/** Written for what a lookup does not report, which is not the same as zero. */
const NOT_REPORTED = 'not reported';

const known = (text: string | null) => text ?? NOT_REPORTED;

const difference = ({ differences }: CloseRecordView, field: string) =>
  differences.find((one) => one.field === field)?.amount ?? null;

const columns: Export<CloseRecord, CloseRecordView>['columns'] = {
  reference: ({ reference }) => reference,
  kind: ({ kind }) => kind,
  rail: ({ rail }) => rail,
  merchant: ({ merchantId }) => merchantId,
  currency: ({ currency }) => currency,
  ended_at: ({ endedAt }) => endedAt,
  result: ({ result }) => result,
  status_ours: ({ ours }) => known(ours.status),
  status_theirs: ({ theirs }) => known(theirs.status),
  status_difference: (view) => difference(view, 'status'),
  amount_ours: ({ ours }) => known(ours.amount),
  amount_theirs: ({ theirs }) => known(theirs.amount),
  amount_difference: (view) => difference(view, 'amount'),
  fee_ours: ({ ours }) => known(ours.fee),
  fee_theirs: ({ theirs }) => known(theirs.fee),
  fee_difference: (view) => difference(view, 'fee'),
  why: ({ why }) => why,
  break: ({ breakId }) => breakId,
  fact_published: ({ factPublished }) => (factPublished ? 'yes' : 'no'),
  asked_at: ({ askedAt }) => askedAt,
  tries: ({ tries }) => tries,
};

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
  return exportItems({ items: records, viewOf: viewRecord, columns, about }, format);
}
