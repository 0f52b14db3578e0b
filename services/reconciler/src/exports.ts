import { formatCsvRows } from '@pesewa/contracts';
import { z } from 'zod';
import { inBatches } from './batches.ts';

const exportFormats = ['csv', 'json'] as const;

/** How lists can be exported. */
export type ExportFormat = (typeof exportFormats)[number];

/** The `format` of a query. */
export const exportFormat = z
  .enum(exportFormats, { error: `must be one of ${exportFormats.join(', ')}` })
  .default('csv');

const RECORDS_PER_PAGE = { default: 100, most: 500 } as const;

/** The queries for a page of records and for an export of them, each narrowed to one of these results. */
export function recordQueries<const Results extends readonly [string, ...string[]]>(results: Results) {
  const result = z.enum(results, { error: `must be one of ${results.join(', ')}` }).optional();
  const limit = z.coerce.number().int().min(1).max(RECORDS_PER_PAGE.most).default(RECORDS_PER_PAGE.default);
  return {
    recordQuery: z.object({ result, cursor: z.string().max(120).optional(), limit }),
    exportQuery: z.object({ result, format: exportFormat }),
  };
}

/** What is exported: an item is one line of CSV, or one element of a JSON array. */
export interface Export<Item> {
  readonly items: AsyncIterable<Item>;
  readonly heading: readonly string[];
  readonly rowOf: (item: Item) => readonly string[];
  readonly viewOf: (item: Item) => object;
  /** An additional value of the JSON object; without it the JSON is only the array. */
  readonly about?: { readonly name: string; readonly view: object };
}

/** Writes items as they are read, so that memory does not grow with them; no cell can be taken for a formula. */
export function exportItems<Item>(wanted: Export<Item>, format: ExportFormat): ReadableStream<Uint8Array> {
  const texts = format === 'csv' ? csvOf(wanted) : jsonOf(wanted);
  return ReadableStream.from(texts).pipeThrough(new TextEncoderStream());
}

async function* csvOf<Item>({ items, heading, rowOf }: Export<Item>): AsyncGenerator<string> {
  yield formatCsvRows([heading]);
  for await (const batch of inBatches(items)) yield formatCsvRows(batch.map(rowOf));
}

async function* jsonOf<Item>({ items, viewOf, about }: Export<Item>): AsyncGenerator<string> {
  yield about ? `{"${about.name}":${JSON.stringify(about.view)},"records":[` : '[';
  let separator = '\n';
  for await (const batch of inBatches(items)) {
    yield separator + batch.map((item) => JSON.stringify(viewOf(item))).join(',\n');
    separator = ',\n';
  }
  yield about ? ']}\n' : '\n]\n';
}

const types: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json; charset=utf-8',
};

/** The headers of an answer that the client saves as a file. */
export function exportHeaders(name: string, format: ExportFormat): Readonly<Record<string, string>> {
  return {
    'content-type': types[format],
    'content-disposition': `attachment; filename="${name.replaceAll(/[^\w.-]/g, '')}.${format}"`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  };
}
