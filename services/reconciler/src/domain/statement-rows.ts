import { referencePattern, type StatementField, type StatementMapping } from '@pesewa/contracts';
import { isCurrency, isId } from '@pesewa/kernel';
import { formOf, isEmptyCell, readAmount } from './statement-amounts.ts';
import { fold } from './statement-cells.ts';
import { type Layout, NOT_UTF8 } from './statement-heading.ts';
import { readTime, timeFormatsOf } from './statement-times.ts';

/** A payment's status in a rail's statement. */
export type LineStatus = 'completed' | 'failed' | 'reversed' | 'pending';

/** A line of a rail's statement, ready to be matched; amounts in minor units, never negative. */
export interface StatementRow {
  /** Our transactionReference; null if the line has none. */
  readonly reference: string | null;
  readonly railReference: string | null;
  /** Null if the line does not show it, because it has no signed amount. */
  readonly kind: 'payout' | 'collection' | 'reversal' | null;
  readonly amount: bigint;
  readonly currency: string;
  readonly fee: bigint | null;
  readonly status: LineStatus;
  readonly atMs: number | null;
  /** The rail's own word for the status, as the mapping writes it; absent if the file has no column for it. */
  readonly statusWord?: string;
  /** What stands in place of a reference of ours, if it looks like a reference. */
  readonly otherReference?: string;
}

/** A line before it is matched: a row, a line that is no payment, or why it can't be read. */
export type ReadLine = { readonly row: StatementRow } | { readonly aside: true } | Unreadable;

/** Why a line can't be read, and the options of the mapping by which it could; it quotes nothing of the line. */
export interface Unreadable {
  readonly unreadable: string;
  readonly options?: Partial<StatementMapping>;
}

const RAIL_REFERENCE_LENGTH_MAX = 64;
/** The replacement for bytes that are not UTF-8; valid statements don't contain it. */
const DAMAGED = /\ufffd/;
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** A line that is being read, and the first reason for which it can't be. */
interface Line {
  readonly cells: readonly string[];
  problem: Unreadable | undefined;
}

/** What moved, signed or not, and the direction if the line shows one. */
interface Move {
  readonly minor: bigint;
  readonly direction: 'debit' | 'credit' | null;
}

/** Marks of zero width, which programs leave at the ends of cells. */
const UNSEEN = /\p{Cf}/gu;

/**
 * Builds the readers of cells, by the mapping that says where they are and how they are written. A cell that can't be read
 * gives null, and the first such is noted in its line. Reasons name the field and never its content, which may be
 * anybody's data.
 */
function createCells(mapping: StatementMapping, { places }: Layout, currency: string | null) {
  function no(line: Line, unreadable: string, options?: Partial<StatementMapping>): null {
    line.problem ??= { unreadable, ...(options && { options }) };
    return null;
  }

  function text(line: Line, field: StatementField): string | null {
    const place = places.get(field);
    if (place === undefined) return null;
    const found = line.cells[place]?.replaceAll(UNSEEN, '').trim();
    if (found === undefined) return no(line, `${field}: the line has no such column`);
    if (DAMAGED.test(found)) return no(line, `${field}: ${NOT_UTF8}`, { encoding: 'windows-1252' });
    return CONTROL.test(found) ? no(line, `${field}: has control characters or line ends`) : found;
  }

  /** A cell's text; null if it is empty. */
  function cell(line: Line, field: StatementField): string | null {
    const found = text(line, field);
    return found === null || isEmptyCell(found) ? null : found;
  }

  function word<Meaning>(line: Line, field: StatementField, words: Words<Meaning>): Word<Meaning> | null {
    const found = text(line, field);
    if (found === null) return null;
    const known = words.get(fold(found));
    if (known !== undefined) return known;
    return isEmptyCell(found)
      ? no(line, `${field}: is empty, so nothing says what the line is`)
      : no(
          line,
          `${field}: a word that the mapping does not know: say under ${field}${field === 'status' ? 'es' : 's'} what it means`,
        );
  }

  function readCurrency(line: Line): string {
    const code = cell(line, 'currency')?.toUpperCase() ?? currency ?? '';
    if (!isCurrency(code)) no(line, 'currency: is no ISO 4217 code');
    if (currency !== null && code !== currency) no(line, 'currency: is not that of the statement');
    return code;
  }

  /** An amount with its sign; null for an empty cell. */
  function money(line: Line, field: StatementField, code: string): bigint | null {
    const found = line.problem ? null : cell(line, field);
    if (found === null) return null;
    const amount = readAmount(found, mapping, code);
    if (amount !== undefined) return amount;
    const form = formOf(found, mapping, code);
    const why = `${field}: is no amount of ${code} as the mapping writes it`;
    return form
      ? no(line, `${why}: "decimal": "${form.decimal}", "grouping": "${form.grouping}" reads it`, form)
      : no(line, why);
  }

  function time(line: Line): number | null {
    const found = cell(line, 'time');
    if (found === null || !mapping.time) return null;
    const { format, offset } = mapping.time;
    const atMs = readTime(found, format, offset);
    if (atMs !== undefined) return atMs;
    const formats = timeFormatsOf(found);
    const [only, another] = formats;
    const why = `time: is not of the form ${format}`;
    if (!only) return no(line, `${why}, or no date of the calendar`);
    const said = `${why}: it is ${formats.join(' or ')}`;
    // Of two, such as 05/04, the file can't say which: another line may.
    return another ? no(line, said) : no(line, said, { time: { format: only, offset } });
  }

  return { no, cell, word, readCurrency, money, time };
}

/** Builds the reader of rows, from the mapping, its columns, and the only permitted currency, if any. */
export function createRowReader(mapping: StatementMapping, layout: Layout, currency: string | null) {
  const statuses = wordsOf(mapping.statuses);
  const kinds = wordsOf(mapping.kinds);
  const reader = createCells(mapping, layout, currency);
  const readMove = createMoves(mapping, layout, reader);

  return (cells: readonly string[]): ReadLine => {
    const line: Line = { cells, problem: undefined };
    if (layout.columns !== null && cells.length !== layout.columns)
      return { unreadable: `the line has ${cells.length} columns, and the header ${layout.columns}` };
    const kind = reader.word(line, 'kind', kinds);
    if (kind?.meaning === 'other') return { aside: true };
    const code = reader.readCurrency(line);
    const { minor, direction } = readMove(line, code);
    const fee = reader.money(line, 'fee', code);
    const status = reader.word(line, 'status', statuses);
    const reference = reader.cell(line, 'reference');
    const railReference = reader.cell(line, 'railReference');
    if ((railReference?.length ?? 0) > RAIL_REFERENCE_LENGTH_MAX)
      reader.no(line, `railReference: has more than ${RAIL_REFERENCE_LENGTH_MAX} characters`);
    const atMs = reader.time(line);
    if (line.problem) return line.problem;
    const own = ownReference(reference);
    const other = own === null ? otherReference(reference) : undefined;
    const row: StatementRow = {
      reference: own,
      railReference,
      kind: kind?.meaning ?? (direction && kindOf[direction]),
      amount: magnitude(minor),
      currency: code,
      fee: fee === null ? null : magnitude(fee),
      status: status?.meaning ?? 'completed',
      atMs,
      ...(status && { statusWord: status.text }),
      ...(other !== undefined && { otherReference: other }),
    };
    return { row };
  };
}

const kindOf = { debit: 'payout', credit: 'collection' } as const;

/** Builds the reader of a line's movement: in or out of our wallet at the rail, if the line shows which. */
function createMoves(
  mapping: StatementMapping,
  { places }: Layout,
  { no, money, word }: ReturnType<typeof createCells>,
) {
  const directions = wordsOf(mapping.directions);
  const other = mapping.positive === 'credit' ? 'debit' : 'credit';

  function columnsMove(line: Line, code: string): Move {
    const debit = money(line, 'debit', code);
    const credit = money(line, 'credit', code);
    if (debit === null && credit === null) no(line, 'debit, credit: neither has an amount');
    if (debit && credit) no(line, 'debit, credit: both have an amount');
    // Some rails write outgoing amounts as negatives in a column of their own, which is the same direction twice.
    if (debit) return { minor: debit, direction: 'debit' };
    if (credit && credit < 0n) no(line, 'credit: is negative');
    return { minor: credit ?? 0n, direction: credit ? 'credit' : null };
  }

  return (line: Line, code: string): Move => {
    if (places.has('debit')) return columnsMove(line, code);
    const minor = money(line, 'amount', code) ?? no(line, 'amount: is missing') ?? 0n;
    const direction = word(line, 'direction', directions);
    if (direction) return { minor, direction: direction.meaning };
    if (mapping.holds !== undefined) {
      if (minor < 0n) no(line, 'amount: is negative, where the mapping says that none is');
      return { minor, direction: mapping.holds === 'payouts' ? 'debit' : 'credit' };
    }
    const signed = minor < 0n ? other : mapping.positive;
    return { minor, direction: minor === 0n ? null : signed };
  };
}

/** A reference of ours, as we gave it to the rail; null for any other text in its column. */
function ownReference(text: string | null): string | null {
  if (text === null || !referencePattern.test(text)) return null;
  const lower = text.toLowerCase();
  return isId('po', lower) || isId('co', lower) ? lower : null;
}

/** Six digits or more, with marks between them, which may be somebody's number. */
const NUMBER = /\d(?:[._:-]*\d){5,}/g;
const NUMBER_SHOWN = 3;

/** Another reference; undefined for a text without a digit or with a space, which may be a name. Of long numbers in it the ends are kept. */
function otherReference(text: string | null): string | undefined {
  if (text === null || !referencePattern.test(text) || !/\d/.test(text)) return undefined;
  return text.replaceAll(NUMBER, (number) => `***${number.slice(-NUMBER_SHOWN)}`);
}

function magnitude(minor: bigint): bigint {
  return minor < 0n ? -minor : minor;
}

/** A word of the mapping, and what it means. */
interface Word<Meaning> {
  readonly text: string;
  readonly meaning: Meaning;
}
type Words<Meaning> = ReadonlyMap<string, Word<Meaning>>;

function wordsOf<Meaning extends string>(
  words: { readonly [Word in Meaning]?: readonly string[] | undefined } | undefined,
): Words<Meaning> {
  const entries = Object.entries(words ?? {}) as [Meaning, readonly string[] | undefined][];
  return new Map(
    entries.flatMap(([meaning, texts = []]) => texts.map((text) => [fold(text), { text, meaning }] as const)),
  );
}
