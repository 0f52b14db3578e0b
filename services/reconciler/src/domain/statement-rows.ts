import { referencePattern, type StatementField, type StatementMapping } from '@pesewa/contracts';
import { accept, isCurrency, isId, type Result, refuse } from '@pesewa/kernel';
import { formsOf, isEmptyCell, readAmount } from './statement-amounts.ts';
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

/** Marks of zero width, which programs leave at the ends of cells. */
const UNSEEN = /\p{Cf}/gu;

/** A cell that can't be read. Reasons name the field and never its content, which may be anybody's data. */
type Read<Value> = Result<Value, Unreadable>;

const no = (unreadable: string, options?: Partial<StatementMapping>) =>
  refuse({ unreadable, ...(options && { options }) });

/** Builds the readers of cells, by the mapping that says where they are and how they are written. */
function createCells(mapping: StatementMapping, { places }: Layout, currency: string | null) {
  function text(cells: readonly string[], field: StatementField): Read<string | null> {
    const place = places.get(field);
    if (place === undefined) return accept(null);
    const found = cells[place]?.replaceAll(UNSEEN, '').trim();
    if (found === undefined) return no(`${field}: the line has no such column`);
    if (DAMAGED.test(found)) return no(`${field}: ${NOT_UTF8}`, { encoding: 'windows-1252' });
    if (CONTROL.test(found)) return no(`${field}: has control characters or line ends`);
    return accept(found);
  }

  /** A cell's text; null if it is empty. */
  function cell(cells: readonly string[], field: StatementField): Read<string | null> {
    const found = text(cells, field);
    return found.ok && found.value !== null && isEmptyCell(found.value) ? accept(null) : found;
  }

  function word<Meaning>(
    cells: readonly string[],
    field: StatementField,
    words: Words<Meaning>,
  ): Read<Word<Meaning> | null> {
    const found = text(cells, field);
    if (!found.ok || found.value === null) return found.ok ? accept(null) : found;
    const known = words.get(fold(found.value));
    if (known === undefined && isEmptyCell(found.value))
      return no(`${field}: is empty, so nothing says what the line is`);
    return known === undefined
      ? no(
          `${field}: a word that the mapping does not know: say under ${field}${field === 'status' ? 'es' : 's'} what it means`,
        )
      : accept(known);
  }

  function readCurrency(cells: readonly string[]): Read<string> {
    const found = cell(cells, 'currency');
    if (!found.ok) return found;
    const code = found.value?.toUpperCase() ?? currency;
    if (code === null || !isCurrency(code)) return no('currency: is no ISO 4217 code');
    if (currency !== null && code !== currency) return no('currency: is not that of the statement');
    return accept(code);
  }

  /** An amount with its sign; null for an empty cell. */
  function money(cells: readonly string[], field: StatementField, code: string): Read<bigint | null> {
    const found = cell(cells, field);
    if (!found.ok || found.value === null) return found.ok ? accept(null) : found;
    const amount = readAmount(found.value, mapping, code);
    if (amount !== undefined) return accept(amount);
    const [form] = formsOf(found.value, mapping, code);
    const why = `${field}: is no amount of ${code} as the mapping writes it`;
    return form
      ? no(`${why}: "decimal": "${form.decimal}", "grouping": "${form.grouping}" reads it`, form)
      : no(why);
  }

  function time(cells: readonly string[]): Read<number | null> {
    const found = cell(cells, 'time');
    if (!found.ok || found.value === null || !mapping.time) return found.ok ? accept(null) : found;
    const { format, offset } = mapping.time;
    const atMs = readTime(found.value, format, offset);
    if (atMs !== undefined) return accept(atMs);
    const formats = timeFormatsOf(found.value);
    const [only, another] = formats;
    const why = `time: is not of the form ${format}`;
    if (!only) return no(`${why}, or no date of the calendar`);
    const said = `${why}: it is ${formats.join(' or ')}`;
    // Of two, such as 05/04, the file can't say which: another line may.
    return another ? no(said) : no(said, { time: { format: only, offset } });
  }

  return { cell, word, readCurrency, money, time };
}

/** Builds the reader of rows, from the mapping, its columns, and the only permitted currency, if any. */
export function createRowReader(mapping: StatementMapping, layout: Layout, currency: string | null) {
  const statuses = wordsOf(mapping.statuses);
  const kinds = wordsOf(mapping.kinds);
  const reader = createCells(mapping, layout, currency);
  const { cell, word, readCurrency, money } = reader;

  return (cells: readonly string[]): ReadLine => {
    if (layout.columns !== null && cells.length !== layout.columns)
      return { unreadable: `the line has ${cells.length} columns, and the header ${layout.columns}` };
    const kind = word(cells, 'kind', kinds);
    if (!kind.ok) return kind.refusal;
    if (kind.value?.meaning === 'other') return { aside: true };
    const code = readCurrency(cells);
    if (!code.ok) return code.refusal;
    const move = readMove(mapping, layout, reader, cells, code.value);
    if (!move.ok) return move.refusal;
    const fee = money(cells, 'fee', code.value);
    if (!fee.ok) return fee.refusal;
    const status = word(cells, 'status', statuses);
    if (!status.ok) return status.refusal;
    const reference = cell(cells, 'reference');
    if (!reference.ok) return reference.refusal;
    const railReference = cell(cells, 'railReference');
    if (!railReference.ok) return railReference.refusal;
    if ((railReference.value?.length ?? 0) > RAIL_REFERENCE_LENGTH_MAX)
      return { unreadable: `railReference: has more than ${RAIL_REFERENCE_LENGTH_MAX} characters` };
    const time = reader.time(cells);
    if (!time.ok) return time.refusal;
    const own = ownReference(reference.value);
    const other = own === null ? otherReference(reference.value) : undefined;
    const row: StatementRow = {
      reference: own,
      railReference: railReference.value,
      kind: kind.value?.meaning ?? kindOf(move.value),
      amount: move.value.minor,
      currency: code.value,
      fee: fee.value === null ? null : magnitude(fee.value),
      status: status.value?.meaning ?? 'completed',
      atMs: time.value,
      ...(status.value && { statusWord: status.value.text }),
      ...(other !== undefined && { otherReference: other }),
    };
    return { row };
  };
}

/** The movement of a line: in or out of our wallet at the rail. */
function readMove(
  mapping: StatementMapping,
  { places }: Layout,
  { money, word }: ReturnType<typeof createCells>,
  cells: readonly string[],
  code: string,
): Read<Move> {
  if (places.has('debit')) {
    const debit = money(cells, 'debit', code);
    const credit = money(cells, 'credit', code);
    if (!debit.ok) return debit;
    if (!credit.ok) return credit;
    if (debit.value === null && credit.value === null) return no('debit, credit: neither has an amount');
    return columnsMove(debit.value ?? 0n, credit.value ?? 0n);
  }
  const amount = money(cells, 'amount', code);
  if (!amount.ok) return amount;
  if (amount.value === null) return no('amount: is missing');
  const direction = word(cells, 'direction', wordsOf(mapping.directions));
  if (!direction.ok) return direction;
  if (direction.value !== null)
    return accept({ minor: magnitude(amount.value), direction: direction.value.meaning });
  if (mapping.holds !== undefined) {
    if (amount.value < 0n) return no('amount: is negative, where the mapping says that none is');
    const held = mapping.holds === 'payouts' ? 'debit' : 'credit';
    return accept({ minor: amount.value, direction: held });
  }
  const other = mapping.positive === 'credit' ? 'debit' : 'credit';
  const signed = amount.value < 0n ? other : mapping.positive;
  return accept({ minor: magnitude(amount.value), direction: amount.value === 0n ? null : signed });
}

interface Move {
  readonly minor: bigint;
  readonly direction: 'debit' | 'credit' | null;
}

function columnsMove(debit: bigint, credit: bigint): Read<Move> {
  if (debit !== 0n && credit !== 0n) return no('debit, credit: both have an amount');
  // Some rails write outgoing amounts as negatives in a column of their own, which is the same direction twice.
  if (debit !== 0n) return accept({ minor: magnitude(debit), direction: 'debit' });
  if (credit < 0n) return no('credit: is negative');
  return accept({ minor: credit, direction: credit === 0n ? null : 'credit' });
}

function kindOf({ direction }: Move): 'payout' | 'collection' | null {
  if (direction === null) return null;
  return direction === 'debit' ? 'payout' : 'collection';
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
