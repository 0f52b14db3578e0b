import type { StatementMapping } from '@pesewa/contracts';
import { createLineReader } from './statement-asides.ts';
import { type Cells, createCellReader, ownReferencesIn } from './statement-cells.ts';
import type { Beginning, Layout } from './statement-heading.ts';
import type { ReadLine } from './statement-rows.ts';

/** A line of a statement file, or a few of which the first has a quoted cell that goes on over line ends. */
export interface StatementLine {
  /** The number in the file of its first line, from 1. */
  readonly line: number;
  readonly read: ReadLine;
}

/** What became of the lines of a file; together they are as many as it has. */
export interface LineCounts {
  /** Those before the heading, and those of the heading and its repetitions. */
  readonly before: number;
  readonly heading: number;
  readonly blank: number;
  /** Those that have a record, and those that belong to the record of the line before. */
  readonly records: number;
  readonly continued: number;
}

/** Reads lines as they come, and what of them waits for more; at the end nothing waits. */
export interface RecordReader {
  readonly read: (lines: readonly string[], isEnd: boolean) => readonly StatementLine[];
  readonly counts: () => LineCounts;
}

/** How long a record may be that goes on over line ends. */
const [JOINED_LINES_MAX, JOINED_LENGTH_MAX] = [100, 65_536];
const COLUMNS_MAX = 200;

const UNCLOSED = {
  unreadable:
    'a quote opens a cell and is not closed where the cell ends: double or remove the quotes inside cells',
};
const STRAY = { unreadable: 'a quote stands inside a cell: double or remove it' };

/**
 * Builds the reader of the lines behind the heading.
 *
 * A line end ends a line. Only if a quoted cell goes on behind it, closes properly, and none of its lines is a line of
 * its own, do they belong together; else the line with the quote is unreadable and the next is read by itself, so that
 * a damaged quote takes no other line with it.
 */
export function createRecordReader(
  mapping: StatementMapping,
  { layout, heading, before, headingLines }: Beginning,
  currency: string | null,
): RecordReader {
  const cellsOf = createCellReader(mapping.delimiter);
  const rowOf = createLineReader(mapping, layout, currency);
  const meant = createJoiner(mapping, layout, rowOf);
  const counts = { before, heading: headingLines, blank: 0, records: 0, continued: 0 };
  let waiting: readonly string[] = [];
  let line = before + headingLines + 1;
  /** Up to which line a quote is open that never closes: there a quote inside a cell may be its end. */
  let suspectUntil = 0;

  /** What one line is; undefined if it has no record. */
  function readOne(text: string, { cells, quotes }: Cells): ReadLine | undefined {
    const kind = text === heading ? 'heading' : cells.every(isBlank) ? 'blank' : 'records';
    counts[kind] += 1;
    if (kind !== 'records') return undefined;
    if (cells.length > COLUMNS_MAX) return { unreadable: `the line has more than ${COLUMNS_MAX} columns` };
    if (quotes === 'stray' && (line <= suspectUntil || layout.columns === null)) return STRAY;
    const read = rowOf(cells);
    // A line that names another payment beside its own may be two that lost the end between them.
    return namesAnother(text, read) ? { unreadable: 'the line names more than one payment' } : read;
  }

  /** What lines are of which the first has an open quote; the rest of them is read by itself if they are not of one. */
  function readSeveral(lines: readonly string[], joined: Cells | undefined): readonly ReadLine[] {
    const whole = joined && meant(lines, joined);
    if (!whole) suspectUntil = Math.max(suspectUntil, line + lines.length - 1);
    // Of several lines that can't be read together each is named.
    const found = whole && 'unreadable' in whole ? lines.map(() => whole) : [whole ?? UNCLOSED];
    counts.records += found.length;
    if (whole) counts.continued += lines.length - found.length;
    return found;
  }

  return {
    read: (lines, isEnd) => {
      const all = waiting.length === 0 ? lines : [...waiting, ...lines];
      const found: StatementLine[] = [];
      let at = 0;
      for (let taken = 1; at < all.length; at += taken, line += taken) {
        const text = all[at] ?? '';
        const read = cellsOf(text);
        if (read.open) {
          const joined = join(all, at, { ...read, open: read.open }, cellsOf, isEnd);
          if (!joined) break;
          const several = readSeveral(all.slice(at, at + joined.count), joined.read);
          found.push(...several.map((one, index) => ({ line: line + index, read: one })));
          taken = several[0] === UNCLOSED ? 1 : joined.count;
        } else {
          const one = readOne(text, read);
          if (one) found.push({ line, read: one });
          taken = 1;
        }
      }
      waiting = all.slice(at);
      return found;
    },
    counts: () => ({ ...counts }),
  };
}

/**
 * Builds the reader of a record over several lines as it is meant; it gives undefined if a damaged quote has put lines
 * together.
 */
function createJoiner(
  { delimiter }: StatementMapping,
  { columns }: Layout,
  rowOf: (cells: readonly string[]) => ReadLine,
): (lines: readonly string[], joined: Cells) => ReadLine | undefined {
  const isLine = (text = '') => 'row' in rowOf(text.replaceAll('"', '').split(delimiter));
  return (lines, { cells, quotes }) => {
    if (quotes !== 'sound' || (columns !== null && cells.length !== columns)) return undefined;
    const whole = rowOf(cells);
    if (namesAnother(lines.join('\n'), whole) || lines.slice(1, -1).some((one) => isLine(one)))
      return undefined;
    // The first or the last may look like a line, where the cell is the last or the first; both are two lines.
    return isLine(lines[0]) && isLine(lines.at(-1)) ? undefined : whole;
  };
}

/**
 * Joins a line whose quote is open with those behind it until it closes, or a quote inside a cell shows that it can't;
 * without cells if neither comes. Undefined if more lines are needed.
 */
function join(
  lines: readonly string[],
  at: number,
  first: Cells & { readonly open: NonNullable<Cells['open']> },
  cellsOf: (text: string) => Cells,
  isEnd: boolean,
): { readonly count: number; readonly read?: Cells } | undefined {
  const before = [...first.open.before];
  let { text } = first.open;
  let length = lines[at]?.length ?? 0;
  for (let count = 1; count < JOINED_LINES_MAX; count += 1) {
    const next = lines[at + count];
    if (next === undefined) return isEnd ? { count } : undefined;
    text += `\n${next}`;
    length += next.length + 1;
    if (length > JOINED_LENGTH_MAX) return { count };
    if (!next.includes('"')) continue;
    const { open, ...read } = cellsOf(text);
    const quotes = first.quotes === 'broken' ? 'broken' : read.quotes;
    if (quotes !== 'open' || !open)
      return { count: count + 1, read: { cells: [...before, ...read.cells], quotes } };
    // What is closed is not read again.
    for (const cell of open.before) before.push(cell);
    text = open.text;
  }
  return { count: JOINED_LINES_MAX };
}

function isBlank(cell: string): boolean {
  return cell.trim() === '';
}

/** Whether a text has a reference of ours beside that of its row. */
function namesAnother(text: string, read: ReadLine): boolean {
  const own = 'row' in read ? read.row.reference : null;
  if ('unreadable' in read || (own === null && !text.includes('\n'))) return false;
  return ownReferencesIn(text).some((reference) => reference !== own);
}
