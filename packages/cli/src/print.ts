import { jsonNumber, replaceInvisible } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import picocolors from 'picocolors';

/** A cell of a table; an absent value is shown as a dash. */
export type Cell = string | number | null | undefined;

/**
 * Prints rows as aligned columns with a heading, with those named by `right` aligned to the right. Without rows it
 * prints one line that says so.
 */
export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly Cell[])[],
  options: { readonly colours: boolean; readonly empty: string; readonly right?: readonly string[] },
): string {
  if (rows.length === 0) return `${options.empty}\n`;
  const texts = rows.map((row) => heading.map((_, column) => cellText(row[column])));
  const widths = heading.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => (row[column] ?? '').length)),
  );
  const lineOf = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return options.right?.includes(heading[column] ?? '') ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const { bold } = picocolors.createColors(options.colours);
  return [bold(lineOf(heading)), ...texts.map(lineOf)].map((line) => `${line}\n`).join('');
}

/** Prints any value as JSON; whole numbers keep every digit. */
export function formatJson(value: unknown): string {
  const exact = (_key: string, part: unknown): unknown =>
    typeof part === 'bigint' ? jsonNumber(part.toString()) : part;
  return `${JSON.stringify(value, exact, 2)}\n`;
}

/** An amount as a cell. */
export function amountCell(amount: string | null | undefined, currency: string | null): Cell {
  return amount && displayAmount(amount, currency ?? '');
}

/** A cell as it is shown, without characters that could hide or change other text. */
export function cellText(cell: Cell): string {
  return cell === null || cell === undefined || cell === '' ? '-' : replaceInvisible(String(cell), '\uFFFD');
}
