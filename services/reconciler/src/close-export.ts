import { formatCsvRows } from '@pesewa/contracts';
import type { CloseRecord } from './close-store.ts';
import { viewClose, viewRecord } from './close-views.ts';
import type { CloseProgress } from './closes.ts';

/** How a close can be exported. */
export const exportFormats = ['csv', 'json'] as const;

/** One of {@link exportFormats}. */
export type ExportFormat = (typeof exportFormats)[number];

/** The media type of each format. */
export const exportTypes: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json; charset=utf-8',
};

/** What a lookup does not tell; it is no amount of zero. */
const NOT_TOLD = 'not told';
const ROWS_PER_CHUNK = 200;

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
  'owner_told',
  'asked_at',
  'tries',
] as const;

/**
 * Writes a close and its records as they are read, so that memory does not grow with them.
 *
 * JSON is one object, `{"close", "records"}`; CSV has one line per payment, and "not told" for what a lookup does not tell.
 */
export function exportClose(
  progress: CloseProgress,
  records: AsyncIterable<CloseRecord>,
  format: ExportFormat,
): ReadableStream<Uint8Array> {
  const texts = format === 'csv' ? csvOf(records) : jsonOf(progress, records);
  return ReadableStream.from(encoded(texts));
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const text of texts) yield encoder.encode(text);
}

async function* csvOf(records: AsyncIterable<CloseRecord>): AsyncGenerator<string> {
  yield formatCsvRows([HEADING]);
  for await (const chunk of chunksOf(records)) yield formatCsvRows(chunk.map(rowOf));
}

async function* jsonOf(progress: CloseProgress, records: AsyncIterable<CloseRecord>): AsyncGenerator<string> {
  yield `{"close":${JSON.stringify(viewClose(progress))},"records":[`;
  let separator = '\n';
  for await (const chunk of chunksOf(records)) {
    const texts = chunk.map((record) => JSON.stringify(viewRecord(record)));
    yield separator + texts.join(',\n');
    separator = ',\n';
  }
  yield ']}\n';
}

async function* chunksOf(records: AsyncIterable<CloseRecord>): AsyncGenerator<readonly CloseRecord[]> {
  let chunk: CloseRecord[] = [];
  for await (const record of records) {
    chunk.push(record);
    if (chunk.length < ROWS_PER_CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

function rowOf(record: CloseRecord): readonly string[] {
  const { ours, theirs, differences, ...view } = viewRecord(record);
  const known = (text: string | null) => text ?? NOT_TOLD;
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
    view.ownerTold ? 'yes' : 'no',
    view.askedAt ?? '',
    String(view.tries),
  ];
}
