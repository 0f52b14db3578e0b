import { referencePattern } from '@pesewa/contracts';
import { accept, isCurrency, isId, parseAmount, type Result, refuse } from '@pesewa/kernel';
import { fold, type Layout, type StatementField, type StatementMapping } from './statement-mapping.ts';
import { readTime } from './statement-times.ts';

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
}

/** A line before it is matched: a row, a line that is no payment, or why it can't be read. */
export type ReadLine =
  | { readonly row: StatementRow }
  | { readonly aside: true }
  | { readonly unreadable: string };

const RAIL_REFERENCE_LENGTH_MAX = 64;
/** The replacement for bytes that are not UTF-8; valid statements don't contain it. */
const DAMAGED = /\ufffd/;
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** A cell that can't be read. Reasons name the field and never its content, which may be anybody's data. */
type Read<Value> = Result<Value, string>;

/** Builds the readers of cells, by the mapping that says where they are and how they are written. */
function createCells(mapping: StatementMapping, { places }: Layout, currency: string | null) {
  function cell(cells: readonly string[], field: StatementField): Read<string | null> {
    const place = places.get(field);
    if (place === undefined) return accept(null);
    const text = cells[place]?.trim();
    if (text === undefined) return refuse(`${field}: the line has no such column`);
    if (DAMAGED.test(text)) return refuse(`${field}: is not UTF-8`);
    if (CONTROL.test(text)) return refuse(`${field}: has control characters or line ends`);
    return accept(text === '' ? null : text);
  }

  function word<Meaning>(
    cells: readonly string[],
    field: StatementField,
    words: ReadonlyMap<string, Meaning>,
  ): Read<Meaning | null> {
    const text = cell(cells, field);
    if (!text.ok || !places.has(field)) return text.ok ? accept(null) : text;
    const meaning = text.value === null ? undefined : words.get(fold(text.value));
    return meaning === undefined
      ? refuse(`${field}: a word that the mapping does not know`)
      : accept(meaning);
  }

  function readCurrency(cells: readonly string[]): Read<string> {
    const text = cell(cells, 'currency');
    if (!text.ok) return text;
    const code = text.value?.toUpperCase() ?? currency;
    if (code === null || !isCurrency(code)) return refuse('currency: is no ISO 4217 code');
    if (currency !== null && code !== currency) return refuse('currency: is not that of the statement');
    return accept(code);
  }

  /** An amount with its sign; null for an empty cell. */
  function money(cells: readonly string[], field: StatementField, code: string): Read<bigint | null> {
    const text = cell(cells, field);
    if (!text.ok || text.value === null) return text.ok ? accept(null) : text;
    const plain = plainDecimal(text.value, mapping);
    const amount = plain === undefined ? undefined : parseAmount(plain, code);
    if (amount?.ok) return accept(amount.value.minor);
    return refuse(`${field}: is no amount of ${code} as the mapping writes it`);
  }

  return { cell, word, readCurrency, money };
}

/** Builds the reader of a statement's lines, from its mapping, its columns, and its only permitted currency, if any. */
export function createRowReader(
  mapping: StatementMapping,
  layout: Layout,
  currency: string | null,
): (cells: readonly string[]) => ReadLine {
  const statuses = wordsOf(mapping.statuses);
  const kinds = wordsOf(mapping.kinds);
  const read = createCells(mapping, layout, currency);
  const { cell, word, readCurrency, money } = read;

  return (cells) => {
    if (layout.columns !== null && cells.length !== layout.columns)
      return { unreadable: `the line has ${cells.length} columns, and the header ${layout.columns}` };
    const kind = word(cells, 'kind', kinds);
    if (!kind.ok) return { unreadable: kind.refusal };
    if (kind.value === 'other') return { aside: true };
    const code = readCurrency(cells);
    if (!code.ok) return { unreadable: code.refusal };
    const move = readMove(mapping, layout, read, cells, code.value);
    const fee = money(cells, 'fee', code.value);
    const status = word(cells, 'status', statuses);
    const reference = cell(cells, 'reference');
    const railReference = cell(cells, 'railReference');
    const time = cell(cells, 'time');
    for (const part of [move, fee, status, reference, railReference, time]) {
      if (!part.ok) return { unreadable: part.refusal };
    }
    if (!move.ok || !fee.ok || !status.ok || !reference.ok || !railReference.ok || !time.ok)
      return { unreadable: 'the line can not be read' };
    if ((railReference.value?.length ?? 0) > RAIL_REFERENCE_LENGTH_MAX)
      return { unreadable: `railReference: has more than ${RAIL_REFERENCE_LENGTH_MAX} characters` };
    const atMs = time.value === null ? null : timeOf(time.value, mapping);
    if (atMs === undefined) return { unreadable: 'time: is not of the form that the mapping says' };
    const row: StatementRow = {
      reference: ownReference(reference.value),
      railReference: railReference.value,
      kind: kind.value ?? kindOf(move.value),
      amount: move.value.minor,
      currency: code.value,
      fee: fee.value === null ? null : magnitude(fee.value),
      status: status.value ?? 'completed',
      atMs,
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
    return columnsMove(debit.value ?? 0n, credit.value ?? 0n);
  }
  const amount = money(cells, 'amount', code);
  if (!amount.ok) return amount;
  if (amount.value === null) return refuse('amount: is missing');
  const direction = word(cells, 'direction', wordsOf(mapping.directions));
  if (!direction.ok) return direction;
  if (direction.value !== null) return accept({ minor: magnitude(amount.value), direction: direction.value });
  if (mapping.holds !== undefined) {
    if (amount.value < 0n) return refuse('amount: is negative, where the mapping says that none is');
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
  if (debit !== 0n && credit !== 0n) return refuse('debit, credit: both have an amount');
  // Some rails write outgoing amounts as negatives in a column of their own, which is the same direction twice.
  if (debit !== 0n) return accept({ minor: magnitude(debit), direction: 'debit' });
  if (credit < 0n) return refuse('credit: is negative');
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

function timeOf(text: string, { time }: StatementMapping): number | undefined {
  return time && readTime(text, time.format, time.offset);
}

function magnitude(minor: bigint): bigint {
  return minor < 0n ? -minor : minor;
}

/** A decimal text in the kernel's form: without separators, with a point; undefined for any other text. */
function plainDecimal(text: string, { decimal, grouping }: StatementMapping): string | undefined {
  const [, sign = '', whole = '', fraction = ''] =
    (decimal === '.' ? /^([+-]?)([^.]+)(?:\.(\d+))?$/ : /^([+-]?)([^,]+)(?:,(\d+))?$/).exec(text) ?? [];
  const groups = grouping === '' ? [whole] : whole.split(grouping);
  const isGrouped =
    groups.length === 1 ||
    groups.every((group, index) => (index === 0 ? group.length <= 3 : group.length === 3));
  const digits = groups.join('');
  if (!isGrouped || !/^\d{1,24}$/.test(digits)) return undefined;
  return `${sign === '-' ? '-' : ''}${digits}${fraction === '' ? '' : `.${fraction}`}`;
}

function wordsOf<Meaning extends string>(
  words: { readonly [Word in Meaning]?: readonly string[] | undefined } | undefined,
): ReadonlyMap<string, Meaning> {
  const entries = Object.entries(words ?? {}) as [Meaning, readonly string[] | undefined][];
  return new Map(
    entries.flatMap(([meaning, texts = []]) => texts.map((text) => [fold(text), meaning] as const)),
  );
}
