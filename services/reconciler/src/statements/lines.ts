import { createHash, type Hash } from 'node:crypto';
import { parse } from 'csv-parse';
import { inBatches } from '../batches.ts';
import { layoutOf, type StatementMapping } from '../domain/statement-mapping.ts';
import { createRowReader, type ReadLine } from '../domain/statement-rows.ts';

/** A line of a statement file. */
export interface StatementLine {
  /** Counted from 1 without the heading, so that the same file gives the same numbers. */
  readonly number: number;
  /** The line number in the file where it ends, from 1. */
  readonly line: number;
  readonly read: ReadLine;
}

/** The limits for reading a file. */
export interface FileLimits {
  readonly bytesMax: number;
  readonly linesMax: number;
}

/** The file can't be read at all; the message names the place and the remedy, and quotes none of its content. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
  readonly isTooLarge: boolean;

  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/**
 * How many lines are stored in one transaction; the same for every upload, so that one can continue where another
 * stopped.
 */
const LINES_PER_BATCH = 1_000;

const LINE_BYTES_MAX = 65_536;
const COLUMNS_MAX = 200;

/** A file as it arrives: its lines in batches, and after all are read the digest of its bytes. */
export interface StatementFile {
  readonly batches: AsyncIterable<readonly StatementLine[]>;
  /** SHA-256 in hex of what was read. */
  readonly digest: () => string;
}

/** How a file is read. */
interface Reading {
  readonly mapping: StatementMapping;
  readonly currency: string | null;
  readonly limits: FileLimits;
}

/** Reads a statement as a stream, with only a batch and a piece of the file in memory. */
export function readStatementFile(content: AsyncIterable<Uint8Array>, how: Reading): StatementFile {
  const hash = createHash('sha256');
  const pieces = piecesOf(content, hash, how.limits);
  return {
    batches: inBatches(linesOf(pieces, how), LINES_PER_BATCH),
    digest: () => hash.copy().digest('hex'),
  };
}

async function* piecesOf(content: AsyncIterable<Uint8Array>, hash: Hash, { bytesMax }: FileLimits) {
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.byteLength;
    if (bytes > bytesMax)
      throw new UnreadableFileError(`the file has more than ${bytesMax} bytes: send it in parts`, true);
    hash.update(piece);
    yield piece;
  }
}

async function* linesOf(
  pieces: AsyncIterable<Uint8Array>,
  { mapping, currency, limits: { linesMax } }: Reading,
): AsyncGenerator<StatementLine> {
  let reader: ReturnType<typeof createRowReader> | undefined;
  let number = 0;
  for await (const { cells, line } of recordsOf(pieces, mapping)) {
    const isTooWide = cells.length > COLUMNS_MAX;
    if (!reader) {
      if (isTooWide)
        throw new UnreadableFileError(
          `line ${line} has more than ${COLUMNS_MAX} columns: is it the heading?`,
        );
      const layout = layoutOf(mapping, mapping.header ? cells : null);
      if (!layout.ok) throw new UnreadableFileError(layout.refusal);
      reader = createRowReader(mapping, layout.value, currency);
      if (mapping.header) continue;
    }
    number += 1;
    if (number > linesMax)
      throw new UnreadableFileError(`the file has more than ${linesMax} lines: send it in parts`, true);
    const tooMany = { unreadable: `the line has more than ${COLUMNS_MAX} columns` };
    yield { number, line, read: isTooWide ? tooMany : reader(cells) };
  }
  if (mapping.header && !reader) throw new UnreadableFileError('the file is empty: not even a heading');
}

/** The cells of a line, and the line number in the file where it ends. */
interface CsvRecord {
  readonly cells: readonly string[];
  readonly line: number;
}

/** Feeds the library's parser directly: what came of a piece is taken at once, and nothing waits in its buffers. */
async function* recordsOf(
  pieces: AsyncIterable<Uint8Array>,
  { delimiter }: StatementMapping,
): AsyncGenerator<CsvRecord> {
  const records: CsvRecord[] = [];
  let failure: Error | undefined;
  const parser = parse({
    bom: true,
    delimiter,
    relax_column_count: true,
    // A quote inside a cell is text; one that is never closed ends at the limit for a line.
    relax_quotes: true,
    skip_empty_lines: true,
    // All of them, because by default the parser accepts only the first line's delimiter.
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: LINE_BYTES_MAX,
    on_record: (cells: readonly string[], { lines: line }) => {
      records.push({ cells, line });
      return null;
    },
  });
  parser.on('error', (error: Error & { readonly code?: string; readonly lines?: number }) => {
    failure ??= readable(error);
  });
  parser.resume();
  const taken = () => {
    if (failure) throw failure;
    return records.splice(0);
  };
  for await (const piece of pieces) {
    await new Promise<void>((resolve) => parser.write(piece, () => resolve()));
    yield* taken();
  }
  await new Promise<void>((resolve) => {
    parser.once('close', resolve);
    parser.end();
  });
  yield* taken();
}

/** The library's messages may quote the file. */
function readable({ code, lines }: { readonly code?: string; readonly lines?: number }): Error {
  const place = lines === undefined ? 'a line' : `line ${lines}`;
  if (code === 'CSV_MAX_RECORD_SIZE')
    return new UnreadableFileError(
      `${place} has more than ${LINE_BYTES_MAX} bytes: is it CSV, and every quote closed?`,
    );
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return new UnreadableFileError(`a quote that opens before ${place} is never closed: fix the file`);
  return new UnreadableFileError(`${place} is no CSV (${code ?? 'unknown'})`);
}
