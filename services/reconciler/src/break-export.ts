import { formatCsvRows } from '@pesewa/contracts';
import { breakColumns, viewBreak } from './break-views.ts';
import type { BreakCursor, BreakQuery, BreakStore } from './breaks.ts';

/** The forms of an export. */
export const exportFormats = ['csv', 'json'] as const;

const BREAKS_PER_PAGE = 500;

/**
 * Writes breaks a page at a time: CSV that no spreadsheet takes a formula from, or one JSON array.
 *
 * What opens while it is written is not in it; nothing is left out, and nothing is in it twice.
 */
export function exportBreaks(
  breaks: Pick<BreakStore, 'list'>,
  query: BreakQuery,
  format: (typeof exportFormats)[number],
): ReadableStream<Uint8Array> {
  const pages = format === 'csv' ? csvOf(breaks, query) : jsonOf(breaks, query);
  return ReadableStream.from(pages).pipeThrough(new TextEncoderStream());
}

async function* csvOf(breaks: Pick<BreakStore, 'list'>, query: BreakQuery): AsyncGenerator<string> {
  yield formatCsvRows([breakColumns]);
  for await (const views of viewsOf(breaks, query)) {
    yield formatCsvRows(views.map((view) => breakColumns.map((column) => String(view[column] ?? ''))));
  }
}

async function* jsonOf(breaks: Pick<BreakStore, 'list'>, query: BreakQuery): AsyncGenerator<string> {
  let separator = '[\n';
  for await (const views of viewsOf(breaks, query)) {
    for (const view of views) {
      yield `${separator}${JSON.stringify(view)}`;
      separator = ',\n';
    }
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
}

async function* viewsOf(
  breaks: Pick<BreakStore, 'list'>,
  query: BreakQuery,
): AsyncGenerator<readonly ReturnType<typeof viewBreak>[]> {
  let after: BreakCursor | undefined;
  do {
    const page = await breaks.list({ ...query, after, limit: BREAKS_PER_PAGE });
    yield page.items.map(viewBreak);
    after = page.next ?? undefined;
  } while (after);
}
