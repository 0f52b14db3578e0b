import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson, statementMapping } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { StatementLine } from '../domain/statement-records.ts';
import { readStatementFile } from './lines.ts';

const folder = join(import.meta.dirname, 'samples');
const names = readdirSync(folder).flatMap((name) => (name.endsWith('.csv') ? [name.slice(0, -4)] : []));
const sample = z.strictObject({
  currency: z.string().optional(),
  mapping: statementMapping,
  comesTo: z.array(z.string()),
});
const limits = { bytesMax: 1_000_000, linesMax: 1_000 };

it.each(names)('%s comes to what is beside it', async (name) => {
  const path = join(folder, name);
  const { currency, mapping, comesTo } = sample.parse(parseJson(readFileSync(`${path}.json`, 'utf8')));
  for (const highWaterMark of [65_536, 7]) {
    const content = createReadStream(`${path}.csv`, { highWaterMark }) as AsyncIterable<Uint8Array>;
    const file = readStatementFile(content, { mapping, currency: currency ?? null, limits });
    const lines = (await Array.fromAsync(file.batches)).flat();
    expect(lines.map(describeLine)).toEqual(comesTo);
  }
});

it('are twenty at least', () => {
  expect(names.length).toBeGreaterThanOrEqual(20);
});

function describeLine({ line, read }: StatementLine): string {
  if ('unreadable' in read) return `${line}: unreadable: ${read.unreadable}`;
  if ('aside' in read) return `${line}: set aside`;
  const { kind, amount, currency, fee, status, reference, railReference, atMs } = read.row;
  const money = `${formatAmount(amount, currency)} ${currency}${fee === null ? '' : ` fee ${formatAmount(fee, currency)}`}`;
  const time = atMs === null ? 'no time' : new Date(atMs).toISOString();
  return `${line}: ${kind} ${money} ${status}, ${reference ?? 'no reference'}, ${railReference ?? 'no receipt'}, ${time}`;
}
