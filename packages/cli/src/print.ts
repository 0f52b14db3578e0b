import { jsonNumber, replaceInvisible } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import picocolors from 'picocolors';

/** A cell of a table; an absent value is shown as a dash. */
export type Cell = string | number | null | undefined;

/** The width of the terminal that stdout is; undefined where it is none, so that nothing piped is ever wrapped. */
function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

const GAP = '  ';
/** No column is made narrower: what does not fit then is left to the terminal. */
const WIDTH_MIN = 8;

/** Words that a table marks, because somebody must look at what has them. */
const wrong: ReadonlySet<string> = new Set([
  'FAILED',
  'failed',
  'refused',
  'exhausted',
  'discarded',
  'disabled',
  'warned',
  'suspended',
  'differs',
  'unclear',
  'not at the rail',
  'not in our books',
  "not on the rail's statement",
]);

/**
 * Prints rows as aligned columns with a heading, with those named by `right` aligned to the right. On a terminal that is too
 * narrow for them, the widest columns go on in further lines. Without rows it prints one line that says so.
 */
export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly Cell[])[],
  options: {
    readonly colours: boolean;
    readonly empty: string;
    readonly right?: readonly string[];
    /** How wide it may be; that of the terminal if absent. */
    readonly width?: number;
  },
): string {
  if (rows.length === 0) return `${options.empty}\n`;
  const { bold, red } = picocolors.createColors(options.colours);
  const texts = rows.map((row) => heading.map((_, column) => cellText(row[column])));
  const natural = heading.map((title, column) =>
    texts.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), title.length),
  );
  const isMoney = heading.map((title) => options.right?.includes(title) === true);
  const widths = fit(natural, isMoney, options.width ?? terminalWidth());
  const linesOf = (cells: readonly string[], mark: (cell: string, padded: string) => string): string => {
    const wrapped = cells.map((cell, column) => wrap(cell, widths[column] ?? cell.length));
    const height = Math.max(...wrapped.map((lines) => lines.length));
    return Array.from({ length: height }, (_, index) => {
      const line = wrapped.map((lines, column) => {
        const [part = '', width = 0] = [lines[index], widths[column]];
        const isLast = column === widths.length - 1;
        const padded = isMoney[column] ? part.padStart(width) : part.padEnd(isLast ? 0 : width);
        return mark(cells[column] ?? '', padded);
      });
      return `${line.join(GAP).trimEnd()}\n`;
    }).join('');
  };
  const plain = (_cell: string, padded: string) => padded;
  const marked = (cell: string, padded: string) => (wrong.has(cell) ? red(padded) : padded);
  const head = linesOf(heading, plain);
  return [`${bold(head.slice(0, -1))}\n`, ...texts.map((row) => linesOf(row, marked))].join('');
}

/** The widths of columns within a total: the widest one gives way first, but not one of amounts. */
function fit(
  natural: readonly number[],
  isMoney: readonly boolean[],
  total = Number.POSITIVE_INFINITY,
): readonly number[] {
  const widths = [...natural];
  const used = () => widths.reduce((sum, width) => sum + width, (widths.length - 1) * GAP.length);
  for (let over = used() - total; over > 0; over -= 1) {
    const given = widths.map((width, column) => (isMoney[column] ? 0 : width));
    const widest = Math.max(...given);
    if (widest <= WIDTH_MIN) break;
    widths[given.indexOf(widest)] = widest - 1;
  }
  return widths;
}

/** A text in lines of at most this width, broken at spaces where there are any. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width);
    const at = space > 0 ? space : width;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  return [...lines, rest];
}

const escapeOf = (half: string) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Prints any value as JSON; whole numbers keep every digit, and characters that are not seen become escapes. */
export function formatJson(value: unknown): string {
  const exact = (_key: string, part: unknown): unknown =>
    typeof part === 'bigint' ? jsonNumber(part.toString()) : part;
  const escaped = (unseen: string) => (unseen === '\n' ? unseen : unseen.replaceAll(/[^]/g, escapeOf));
  return `${replaceInvisible(JSON.stringify(value, exact, 2), escaped)}\n`;
}

/** An amount as a cell. */
export function amountCell(amount: string | null | undefined, currency: string | null): Cell {
  return amount && displayAmount(amount, currency ?? '');
}

/** A cell as it is shown, without characters that could hide or change other text. */
export function cellText(cell: Cell): string {
  return cell === null || cell === undefined || cell === '' ? '-' : replaceInvisible(String(cell), '\uFFFD');
}
