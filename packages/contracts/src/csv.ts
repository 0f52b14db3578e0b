import { stringify } from 'csv-stringify/sync';

/** Text that a spreadsheet would take for a formula; also behind a tab or a line end, which some of them skip. */
const FORMULA = /^[\t\r\n]*[=+\-@]/;
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/** Writes CSV (RFC 4180) with a heading; no cell except a number can be read as a formula. */
export function formatCsv(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  return formatCsvRows([heading, ...rows]);
}

/** Writes rows as {@link formatCsv} does, for CSV that is written a few rows at a time. */
export function formatCsvRows(rows: readonly (readonly string[])[]): string {
  return stringify(
    rows.map((row) => row.map(harmless)),
    { record_delimiter: 'windows' },
  );
}

function harmless(cell: string): string {
  return FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
}
