import { accept, type Result, refuse } from '@pesewa/kernel';

/** The place of a value in a line: its column's name, or its position from 1. */
export type Column = string | number;

/** The fields that can be read from a line. */
export const statementFields = [
  'reference',
  'railReference',
  'amount',
  'debit',
  'credit',
  'direction',
  'fee',
  'currency',
  'time',
  'status',
  'kind',
] as const;

/** One of {@link statementFields}. */
export type StatementField = (typeof statementFields)[number];

/** The time formats of statements; those without a zone need an offset. */
export const timeFormats = [
  'ISO',
  'YYYY-MM-DD HH:mm:ss',
  'DD/MM/YYYY HH:mm:ss',
  'MM/DD/YYYY HH:mm:ss',
  'DD.MM.YYYY HH:mm:ss',
  'DD-MM-YYYY HH:mm:ss',
  'YYYYMMDDHHmmss',
  'unix',
  'unixMs',
] as const;

/** One of {@link timeFormats}. */
export type TimeFormat = (typeof timeFormats)[number];

/** How a rail writes its statements (ADR 30): which column holds what, and what its words mean. */
export interface StatementMapping {
  readonly delimiter: ',' | ';' | '\t' | '|';
  readonly decimal: '.' | ',';
  /** The thousands separator; empty if there is none. */
  readonly grouping: '' | ',' | '.' | ' ' | "'";
  /** Whether the first line names the columns; without it columns are given by position. */
  readonly header: boolean;
  readonly columns: { readonly [Field in StatementField]?: Column | undefined };
  readonly time?: { readonly format: TimeFormat; readonly offset?: string | undefined } | undefined;
  /** The meaning of a positive amount, if its sign gives the direction. */
  readonly positive: 'credit' | 'debit';
  /** The kind of every line, if no column gives it. */
  readonly holds?: 'payouts' | 'collections' | undefined;
  /** Words in the direction, status and kind columns, in any case. */
  readonly directions?: Words<'debit' | 'credit'> | undefined;
  readonly statuses?: Words<'completed' | 'failed' | 'reversed' | 'pending'> | undefined;
  /** `other` marks lines that are no payments, such as top-ups: they are set aside. */
  readonly kinds?: Words<'payout' | 'collection' | 'reversal' | 'other'> | undefined;
}

type Words<Meaning extends string> = { readonly [Word in Meaning]?: readonly string[] | undefined };

/** What is wrong with a mapping as a whole, with the field and the remedy; undefined if it can be used. */
export function mappingProblem(mapping: StatementMapping): string | undefined {
  const { columns, header, decimal, grouping, delimiter, time } = mapping;
  const has = (field: StatementField) => columns[field] !== undefined;
  const named = Object.entries(columns).find(([, column]) => typeof column === 'string');
  if (!header && named) {
    return `columns.${named[0]} names a column, yet header is false: give its place as a number from 1`;
  }
  if (has('debit') !== has('credit'))
    return 'columns.debit and columns.credit belong together: name both, or amount';
  if (has('debit') === has('amount'))
    return 'columns must have either amount, or both debit and credit, and not all of them';
  if (has('direction') && !has('amount'))
    return 'columns.direction gives the direction of columns.amount, which is missing';
  for (const [field, words] of [
    ['direction', 'directions'],
    ['status', 'statuses'],
    ['kind', 'kinds'],
  ] as const) {
    if (has(field) !== (mapping[words] !== undefined)) {
      return has(field)
        ? `${words} is required: columns.${field} is named, and its words must be known`
        : `columns.${field} is required: ${words} says what its words mean`;
    }
  }
  const directions = [mapping.holds !== undefined, has('debit'), has('direction'), has('kind')];
  if (mapping.holds !== undefined && directions.filter(Boolean).length > 1)
    return 'holds is for files whose lines do not say what they are: leave out holds, or the columns that say it';
  if (has('time') !== (time !== undefined))
    return has('time')
      ? 'time.format is required: columns.time is named'
      : 'columns.time is required: time says how it is written';
  if (time && needsOffset(time.format) && time.offset === undefined)
    return `time.offset is required: ${time.format} has no zone; write it like +03:00`;
  if (decimal === grouping) return 'grouping must not be the decimal separator';
  if (!has('reference')) return 'columns.reference is required: lines are matched by it alone';
  return delimiter === decimal && !header
    ? 'delimiter is the decimal separator: without a header it is unknown whether every amount is quoted'
    : undefined;
}

/** Whether a time format has no zone of its own. */
export function needsOffset(format: TimeFormat): boolean {
  return format !== 'ISO' && format !== 'unix' && format !== 'unixMs';
}

/** The positions of a mapping's fields, from 0, and the number of columns of each line. */
export interface Layout {
  readonly places: ReadonlyMap<StatementField, number>;
  /** Null if there is no header. */
  readonly columns: number | null;
}

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

function placeOf(column: Column, heading: readonly string[] | null): number | string {
  if (typeof column === 'number') {
    const isThere = heading === null || column <= heading.length;
    return isThere ? column - 1 : `there is no column ${column}: the header has ${heading.length}`;
  }
  const names = (heading ?? []).map(fold);
  const place = names.indexOf(fold(column));
  if (place === -1) return `the header has no column "${column}": name one that it has, or give its place`;
  return names.indexOf(fold(column), place + 1) === -1
    ? place
    : `the header has "${column}" twice: give its place as a number from 1`;
}

/** A word of a file in the form in which it is compared: without case, and without spaces around it. */
export function fold(text: string): string {
  return text.trim().toLowerCase();
}
