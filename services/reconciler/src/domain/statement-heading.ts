import { delimiters, type StatementField, type StatementMapping, statementFields } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { createCellReader, fold, linesOfRecord, ownReferencesIn } from './statement-cells.ts';

/** The positions of a mapping's fields, from 0, and the number of columns of each line. */
export interface Layout {
  readonly places: ReadonlyMap<StatementField, number>;
  /** Null if there is no header. */
  readonly columns: number | null;
}

/** Where the lines of payments begin: behind the heading, of which each repetition has the same text. */
export interface Beginning {
  readonly layout: Layout;
  readonly heading: string | null;
  /** How many lines stand before the heading, and how many it takes. */
  readonly before: number;
  readonly headingLines: number;
}

/** Within how many lines a heading is looked for if the mapping does not say where it is. */
const HEADING_WITHIN = 50;
/** How many lines one heading may take. */
const HEADING_LINES_MAX = 5;
const SEPARATOR_LINE = /^\s*"?sep=.?"?\s*$/i;

/**
 * Finds where the lines of payments begin; the first line that has all of the mapping's columns is the heading.
 *
 * @param lines the first lines of the file, at least as many as {@link linesNeeded}, or all
 */
export function findBeginning(
  lines: readonly string[],
  mapping: StatementMapping,
): Result<Beginning, string> {
  const found = search(lines, mapping);
  if (!found) return refuse(whyNone(lines, mapping));
  // What stands there is not read, and a line that names a payment must not vanish.
  const skipped = lines.slice(0, found.before + found.headingLines);
  const lost = skipped.findIndex((line) => ownReferencesIn(line).length > 0);
  return lost === -1
    ? accept(found)
    : refuse(
        `line ${lost + 1} names a payment, but stands in or before the heading, or is skipped: correct skipLines or the file`,
      );
}

/** How many lines {@link findBeginning} needs. */
export function linesNeeded({ skipLines = 0 }: StatementMapping): number {
  return skipLines + HEADING_WITHIN;
}

function search(lines: readonly string[], mapping: StatementMapping): Beginning | undefined {
  if (!mapping.header) {
    const layout = layoutOf(mapping, null);
    const before = Math.min(firstOf(lines, mapping), lines.length);
    return layout.ok ? { layout: layout.value, heading: null, before, headingLines: 0 } : undefined;
  }
  const isNamed = Object.values(mapping.columns).some((column) => typeof column === 'string');
  const candidates = candidatesIn(lines, mapping);
  // Without any name nothing tells a heading from another line, and it is the first.
  const likely = isNamed && mapping.skipLines === undefined ? candidates : candidates.slice(0, 1);
  for (const { at: before, cells, count: headingLines } of likely) {
    const layout = layoutOf(mapping, cells);
    const heading = lines.slice(before, before + headingLines).join('\n');
    if (layout.ok) return { layout: layout.value, heading, before, headingLines };
  }
  return undefined;
}

/** The index of the first line that may be the heading. */
function firstOf(lines: readonly string[], { skipLines = 0 }: StatementMapping): number {
  return Math.max(skipLines, SEPARATOR_LINE.test(lines[0] ?? '') ? 1 : 0);
}

/** A line that may be the heading, or a few if a quoted name of a column goes on. */
interface Candidate {
  readonly at: number;
  readonly cells: readonly string[];
  readonly count: number;
}

function candidatesIn(lines: readonly string[], mapping: StatementMapping): readonly Candidate[] {
  const cellsOf = createCellReader(mapping.delimiter);
  const from = firstOf(lines, mapping);
  return lines.slice(0, from + HEADING_WITHIN).flatMap((line, at) => {
    if (at < from || line.trim() === '') return [];
    const alone = cellsOf(line);
    const count = alone.quotes === 'open' ? Math.min(HEADING_LINES_MAX, linesOfRecord(lines, at) ?? 1) : 1;
    const joined = cellsOf(lines.slice(at, at + count).join('\n'));
    const found = joined.quotes === 'open' ? { ...alone, at, count: 1 } : { ...joined, at, count };
    return found.cells.every((cell) => fold(cell) === '') ? [] : [found];
  });
}

/** Why no line is the heading: told of the line with most of the columns, and with the option that would read it. */
function whyNone(lines: readonly string[], mapping: StatementMapping): string {
  const found = ({ cells }: Candidate) =>
    statementFields.filter((field) => {
      const column = mapping.columns[field];
      return column !== undefined && typeof placeOf(column, cells) === 'number';
    }).length;
  const [best] = [...candidatesIn(lines, mapping)].sort((one, other) => found(other) - found(one));
  if (!best) return 'the file is empty: not even a heading';
  const layout = layoutOf(mapping, best.cells);
  const problem = layout.ok ? 'the heading is not behind the lines of skipLines' : layout.refusal;
  for (const delimiter of delimiters) {
    const other = search(lines, { ...mapping, delimiter });
    if (other)
      return `${problem}; line ${other.before + 1} has them all with "delimiter": ${JSON.stringify(delimiter)}`;
  }
  const elsewhere = search(lines, { ...mapping, skipLines: undefined });
  if (elsewhere)
    return `${problem}; line ${elsewhere.before + 1} has them all: "skipLines": ${elsewhere.before}`;
  const isDamaged = best.cells.some((cell) => cell.includes('\ufffd'));
  return `${problem} (line ${best.at + 1} was taken for it)${isDamaged ? `; ${NOT_UTF8}` : ''}`;
}

/** What to do about text that is not UTF-8. */
export const NOT_UTF8 =
  'it is not UTF-8: "encoding": "windows-1252" reads it if it is Latin-1 or Windows-1252';

/** Finds the columns of a mapping in a heading; an error names a missing or duplicate one. */
export function layoutOf(
  mapping: StatementMapping,
  heading: readonly string[] | null,
): Result<Layout, string> {
  const places = new Map<StatementField, number>();
  for (const field of statementFields) {
    const column = mapping.columns[field];
    if (column === undefined) continue;
    const place = placeOf(column, heading);
    if (typeof place === 'string') return refuse(`mapping.columns.${field}: ${place}`);
    places.set(field, place);
  }
  return accept({ places, columns: heading?.length ?? null });
}

function placeOf(column: string | number, heading: readonly string[] | null): number | string {
  if (typeof column === 'number') {
    const isThere = heading === null || column <= heading.length;
    return isThere ? column - 1 : `there is no column ${column}: the header has ${heading.length}`;
  }
  const names = (heading ?? []).map(fold);
  const place = names.indexOf(fold(column));
  if (place === -1)
    return `the header has no column "${column}"${lookAlike(fold(column), names)}: name one that it has, or give its place`;
  return names.indexOf(fold(column), place + 1) === -1
    ? place
    : `the header has "${column}" twice: give its place as a number from 1`;
}

/** How a column of nearly the wanted name differs from it, by code points: they may look the same. */
function lookAlike(wanted: string, names: readonly string[]): string {
  const letters = Array.from(wanted);
  for (const [index, name] of names.entries()) {
    const others = Array.from(name);
    const different = letters.flatMap((letter, at) => (letter === others[at] ? [] : [at]));
    if (others.length !== letters.length || different.length > Math.max(1, letters.length / 4)) continue;
    const shown = different.map((at) => `${codeOf(others[at])} for ${codeOf(letters[at])}`);
    return `, but column ${index + 1} is like it, with ${shown.join(', ')}`;
  }
  return '';
}

function codeOf(letter = ''): string {
  return `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
