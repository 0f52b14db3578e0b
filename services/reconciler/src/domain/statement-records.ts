import type { StatementMapping } from '@pesewa/contracts';
import { createLineReader } from './statement-asides.ts';
import { type Cells, createCellReader, linesOfRecord, ownReferencesIn } from './statement-cells.ts';
import type { Beginning } from './statement-heading.ts';
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

  /** Whether a text is a line of its own, whatever its quotes. */
  const isLine = (text = '') => 'row' in rowOf(text.replaceAll('"', '').split(mapping.delimiter));

  /** What lines are together; undefined if a damaged quote has put them together. */
  function readTogether(lines: readonly string[]): ReadLine | undefined {
    const { cells, quotes } = cellsOf(lines.join('\n'));
    if (quotes !== 'sound' || (layout.columns !== null && cells.length !== layout.columns)) return undefined;
    const whole = rowOf(cells);
    if (namesAnother(lines.join('\n'), whole) || lines.slice(1, -1).some((one) => isLine(one)))
      return undefined;
    // The first or the last may look like a line, where the cell is the last or the first; both are two lines.
    return isLine(lines[0]) && isLine(lines.at(-1)) ? undefined : whole;
  }

  /** What lines are of which the first has an open quote; if they are no record, the others are read by themselves. */
  function readSeveral(lines: readonly string[]): readonly ReadLine[] {
    const whole = readTogether(lines);
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
        taken = 1;
        if (read.quotes === 'open') {
          const count = linesOfRecord(all, at) ?? (isEnd ? all.length - at : undefined);
          if (count === undefined) break;
          const several = readSeveral(all.slice(at, at + count));
          found.push(...several.map((one, index) => ({ line: line + index, read: one })));
          if (several[0] !== UNCLOSED) taken = count;
        } else {
          const one = readOne(text, read);
          if (one) found.push({ line, read: one });
        }
      }
      waiting = all.slice(at);
      return found;
    },
    counts: () => ({ ...counts }),
  };
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
