/** The cells of a line, and how its quotes stand. */
export interface Cells {
  readonly cells: readonly string[];
  /** `stray` if a quote stands inside a cell, where it is text; `open` if the last cell's quote is not closed. */
  readonly quotes: 'sound' | 'stray' | 'open';
}

/** Reads the cells of a line, or of a few lines that belong together; quotes are doubled inside quoted cells (RFC 4180). */
export type CellReader = (text: string) => Cells;

/** Builds the reader of cells for a delimiter. */
export function createCellReader(delimiter: string): CellReader {
  const mark = delimiter === '|' ? '\\|' : delimiter;
  const quoted = new RegExp(`[ ]*"([^"]*(?:""[^"]*)*)"[ ]*(?=${mark}|$)`, 'y');
  const open = /[ ]*"[^"]*(?:""[^"]*)*$/y;
  return (text) => {
    if (!text.includes('"')) return { cells: text.split(delimiter), quotes: 'sound' };
    const cells: string[] = [];
    let quotes: Cells['quotes'] = 'sound';
    for (let at = 0; at <= text.length; ) {
      quoted.lastIndex = open.lastIndex = at;
      const found = quoted.exec(text);
      if (!found && open.test(text)) return { cells: text.split(delimiter), quotes: 'open' };
      const next = text.indexOf(delimiter, at);
      const end = found ? at + found[0].length : next === -1 ? text.length : next;
      const cell = found ? unescaped(found[1] ?? '') : text.slice(at, end);
      if (!found && cell.includes('"')) quotes = 'stray';
      cells.push(found ? cell : withoutQuotes(cell));
      at = end + 1;
    }
    return { cells, quotes };
  };
}

/** How long a record may be that goes on over line ends. */
const [JOINED_LINES_MAX, JOINED_LENGTH_MAX] = [100, 65_536];

/**
 * How many lines a record may take whose first line has an open quote: up to the next line with an odd number of quotes, if
 * one comes soon, which alone can close it. Undefined if it takes more than there are.
 */
export function linesOfRecord(lines: readonly string[], at: number): number | undefined {
  const first = lines[at] ?? '';
  let { length } = first;
  // Its other quotes are in disorder.
  if (!hasOddQuotes(first)) return 1;
  for (let count = 1; count < JOINED_LINES_MAX; count += 1) {
    const next = lines[at + count];
    if (next === undefined) return undefined;
    length += next.length + 1;
    if (length > JOINED_LENGTH_MAX) return count;
    if (hasOddQuotes(next)) return count + 1;
  }
  return JOINED_LINES_MAX;
}

function hasOddQuotes(text: string): boolean {
  let isOdd = false;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) isOdd = !isOdd;
  return isOdd;
}

function unescaped(cell: string): string {
  return cell.includes('"') ? cell.replaceAll('""', '"') : cell;
}

/** A cell whose quotes inside are not doubled keeps them, and loses those around it. */
function withoutQuotes(cell: string): string {
  return /^ *"([^]*)" *$/.exec(cell)?.[1] ?? cell;
}

const OWN_REFERENCE = /(?:po|co)-[0-9a-f]{32}/gi;

/** Every text in the form of our references, in small letters. */
export function ownReferencesIn(text: string): readonly string[] {
  return (text.match(OWN_REFERENCE) ?? []).map((reference) => reference.toLowerCase());
}

const PLAIN = /^[!-~]+(?: [!-~]+)*$/;
/** No letter has more: normalising sorts the marks of one in quadratic time. */
const MANY_MARKS = /(\p{M}{8})\p{M}+/gu;

/**
 * A word of a file in the form in which it is compared: without case, and without what is not seen or what programs
 * exchange, which is spaces of any kind, marks of zero width, and the forms of one letter or apostrophe.
 */
export function fold(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  return text
    .replaceAll(MANY_MARKS, '$1')
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/[\u2018\u2019\u02bc\u00b4`]/g, "'")
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}
