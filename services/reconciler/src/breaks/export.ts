import { type BreakView, breakColumns, type ExportFormat } from '@pesewa/contracts';
import type { Break } from '../domain/break.ts';
import { exportItems } from '../exports.ts';
import { type BreakQuery, type BreakStore, pagesOfBreaks } from './store.ts';
import { viewBreak } from './views.ts';

const BREAKS_PER_PAGE = 500;

/**
 * Writes breaks in pages: as CSV without cells that a spreadsheet would take for formulas, or as one JSON array.
 *
 * Breaks that open during the export are not in it; all others are in it exactly once.
 */
export function exportBreaks(
  breaks: Pick<BreakStore, 'list'>,
  query: BreakQuery,
  format: ExportFormat,
): ReadableStream<Uint8Array> {
  const columns = Object.fromEntries(
    breakColumns.map((column) => [column, (view: BreakView) => view[column]]),
  );
  return exportItems({ items: itemsOf(breaks, query), viewOf: viewBreak, columns }, format);
}

async function* itemsOf(breaks: Pick<BreakStore, 'list'>, query: BreakQuery): AsyncGenerator<Break> {
  for await (const page of pagesOfBreaks(breaks, { ...query, limit: BREAKS_PER_PAGE })) yield* page;
}
