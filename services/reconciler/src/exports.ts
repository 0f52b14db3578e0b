import { type ExportFormat, formatCsvRows } from '@pesewa/contracts';
import { answer } from '@pesewa/runtime';
import { inBatches } from './batches.ts';

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

/** An answer that the client saves as a file of this name, without its ending. */
export function answerFile(name: string, format: ExportFormat, content: ReadableStream<Uint8Array>) {
  const file = `${name.replaceAll(/[^\w.-]/g, '')}.${format}`;
  const headers = {
    'content-type': types[format],
    'content-disposition': `attachment; filename="${file}"`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  };
  return answer(200, new Response(content, { headers }));
}
