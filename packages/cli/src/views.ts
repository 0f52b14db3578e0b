import { inWords, showTime, UTC } from '@pesewa/operator-client';
import type { z } from 'zod';
import { kindOf } from './fields.ts';
import { amountCell, type Cell, cellText, formatJson, formatTable } from './print.ts';
import { inZone } from './time-zones.ts';

/** A column of a table: a field, or a heading and what stands under it, perhaps as numbers. */
export type Column<Item> =
  | (keyof Item & string)
  | readonly [heading: string, cell: (item: Item) => Cell, side?: 'right'];

type Schemas = Readonly<Record<string, z.ZodType>>;

const AMOUNT = /^(?:amount|asked|fee|claimedAmount)$/;
/** A number with its currency, or one at which counting stopped. */
const NUMBER = /^(?:[+-]?[\d,.]+ [A-Z]{3}|\d+\+)$/;

/** Items as a table: amounts with their currency, codes in words, times in the zone, numbers to the right. */
export function tableOf<Item>(
  columns: readonly Column<Item>[],
  items: readonly Item[],
  schemas: Schemas,
  options: { readonly colours: boolean; readonly empty: string; readonly zone?: string | undefined },
): string {
  const { zone = UTC } = options;
  const headings = columns.map((column) => {
    if (typeof column !== 'string') return column[0].toUpperCase();
    const heading = inWords(column).toUpperCase();
    return column.endsWith('At') ? inZone(heading, zone) : heading;
  });
  const rows = items.map((item) =>
    columns.map((column) =>
      typeof column === 'string' ? cellOf(item as Fields, column, schemas, zone) : column[1](item),
    ),
  );
  const right = headings.filter((_, column) => {
    if (columns[column]?.[2] === 'right') return true;
    const cells = rows.map((row) => row[column]).filter((cell) => cell !== null && cell !== undefined);
    return cells.length > 0 && cells.every((cell) => typeof cell === 'number' || NUMBER.test(cell));
  });
  return formatTable(headings, rows, { ...options, right });
}

type Fields = Readonly<Record<string, unknown>>;

function cellOf(item: Fields, field: string, schemas: Schemas, zone: string): Cell {
  const value = item[field];
  if (value === null || value === undefined || typeof value === 'number') return value;
  if (Array.isArray(value))
    return value.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one))).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object') return JSON.stringify(value);
  const text = typeof value === 'string' ? value : '';
  if (AMOUNT.test(field)) {
    const currency = item['currency'] ?? item['claimedCurrency'];
    return amountCell(text, typeof currency === 'string' ? currency : null);
  }
  if (field.endsWith('At') && zone !== UTC) return showTime(text, zone);
  return kindOf(schemas[field]) === 'code' ? inWords(text) : text;
}

/** Named values in lines, those without a value left out. */
export function namedLines(lines: readonly (readonly [name: string, value: Cell])[]): string {
  const known = lines
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => [cellText(name), cellText(value)] as const);
  const width = Math.max(13, ...known.map(([name]) => name.length)) + 2;
  return known.map(([name, value]) => `${name.padEnd(width)}${value}\n`).join('');
}

/** Everything that is known of something, a line for each field; what may be anything comes last, as JSON. */
export function linesOf(view: object, schemas: Schemas): string {
  const entries = Object.entries(view);
  const isWhole = ([name]: readonly [string, unknown]) => kindOf(schemas[name]) === 'anything';
  const whole = entries.filter(isWhole).filter(([, value]) => value !== null && value !== undefined);
  const lines = entries
    .filter((entry) => !isWhole(entry))
    .flatMap(([name, value]) => {
      if (value === null || typeof value !== 'object' || Array.isArray(value))
        return [[inWords(name), cellOf(view as Fields, name, schemas, UTC)] as const];
      return Object.keys(value as Fields).map(
        (part) => [`${inWords(name)} ${inWords(part)}`, cellOf(value as Fields, part, {}, UTC)] as const,
      );
    });
  return [namedLines(lines), ...whole.map(([, value]) => `\n${formatJson(value)}`)].join('');
}
