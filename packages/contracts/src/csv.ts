import { stringify } from 'csv-stringify/sync';

/** What a spreadsheet takes for a formula: also behind a tab or a line end, as some of them skip those. */
const FORMULA = /^[\t\r\n]*[=+\-@]/;
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/** Writes CSV (RFC 4180) with a heading; no cell but a number is left to be read as a formula. */
export function formatCsv(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  return formatCsvRows([heading, ...rows]);
}

/** Writes rows of CSV as {@link formatCsv} does, where they come a few at a time. */
export function formatCsvRows(rows: readonly (readonly string[])[]): string {
  return stringify(
    rows.map((row) => row.map(harmless)),
    { record_delimiter: 'windows' },
  );
}

function harmless(cell: string): string {
  return FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
}
