import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** One measured figure, with the floor it is compared with in the same run. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly floor: number | null;
  readonly ratio: number | null;
  /** What the ratio is to stay within, where that was promised. */
  readonly ratioMax?: number;
  readonly detail: string;
}

/** A row whose value is judged against a floor. */
export function against(row: Omit<Row, 'ratio' | 'floor'> & { readonly floor: number }): Row {
  return { ...row, ratio: Math.round((row.value / row.floor) * 100) / 100 };
}

/** A row that stands for itself. */
export function alone(row: Omit<Row, 'ratio' | 'floor'>): Row {
  return { ...row, floor: null, ratio: null };
}

/** The middle value of an odd number of rounds. */
export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

/** The value that a share of all lies below; NaN where there is none. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length * share)] ?? Number.NaN;
}

const PRECISE_BELOW = 100;

const number = (value: number | null): string =>
  value === null
    ? '–'
    : value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < PRECISE_BELOW ? 2 : 0 });

function ratio({ ratio: is, ratioMax = Infinity }: Row): string {
  if (is === null) return '–';
  return is <= ratioMax ? `${is.toFixed(2)} ×` : `${is.toFixed(2)} × MISSED (at most ${ratioMax} ×)`;
}

/** Prints the rows as a table, what missed its promised ratio marked, and writes them where tools find them. */
export async function report(rows: readonly Row[], path: string): Promise<void> {
  const header = ['name', 'value', 'unit', 'floor', 'ratio', 'detail'];
  const cells = rows.map((row) => [
    row.name,
    number(row.value),
    row.unit,
    number(row.floor),
    ratio(row),
    row.detail,
  ]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of [header, ...cells]) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify({ rows }, null, 2)}\n`);
}
