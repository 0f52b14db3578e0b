import { type ExportFormat, formatCsvRows, TOTAL_ROWS_HEADER } from '@pesewa/contracts';
import { answer } from '@pesewa/runtime';
import { inBatches } from './batches.ts';

type Cell = string | number | null | readonly string[];

/** What is exported: an item is one line of CSV, or one element of a JSON array. */
export interface Export<Item, View extends object> {
  readonly items: AsyncIterable<Item>;
  readonly viewOf: (item: Item) => View;
  /** The columns of CSV, in order: the text of each cell, or a list of words. */
  readonly columns: Readonly<Record<string, (view: View) => Cell>>;
  /** An additional value of the JSON object; without it the JSON is only the array. */
  readonly about?: { readonly name: string; readonly view: object };
}

/** Writes items as they are read, so that memory does not grow with them; no cell can be taken for a formula. */
export function exportItems<Item, View extends object>(
  wanted: Export<Item, View>,
  format: ExportFormat,
): ReadableStream<Uint8Array> {
  const texts = format === 'csv' ? csvOf(wanted) : jsonOf(wanted);
  return ReadableStream.from(texts).pipeThrough(new TextEncoderStream());
}

async function* csvOf<Item, View extends object>({ items, viewOf, columns }: Export<Item, View>) {
  const cells = Object.values(columns);
  const rowOf = (item: Item) => {
    const view = viewOf(item);
    return cells.map((cellOf) => textOf(cellOf(view)));
  };
  yield formatCsvRows([Object.keys(columns)]);
  for await (const batch of inBatches(items)) yield formatCsvRows(batch.map(rowOf));
}

function textOf(cell: Cell): string {
  return Array.isArray(cell) ? cell.join(' ') : String(cell ?? '');
}

async function* jsonOf<Item, View extends object>({ items, viewOf, about }: Export<Item, View>) {
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

/** An answer that the client saves as a file of this name, without its ending; it says how many rows come, if that is known. */
export function answerFile(
  name: string,
  format: ExportFormat,
  content: ReadableStream<Uint8Array>,
  rows?: number,
) {
  const file = `${name.replaceAll(/[^\w.-]/g, '')}.${format}`;
  const headers = {
    'content-type': types[format],
    'content-disposition': `attachment; filename="${file}"`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...(rows !== undefined && { [TOTAL_ROWS_HEADER]: String(rows) }),
  };
  return answer(200, new Response(content, { headers }));
}
