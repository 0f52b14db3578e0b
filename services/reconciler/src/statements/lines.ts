import { createHash, type Hash } from 'node:crypto';
import type { StatementMapping } from '@pesewa/contracts';
import { inBatches } from '../batches.ts';
import { findBeginning, linesNeeded } from '../domain/statement-heading.ts';
import { createProposal } from '../domain/statement-proposal.ts';
import {
  createRecordReader,
  type LineCounts,
  type RecordReader,
  type StatementLine,
} from '../domain/statement-records.ts';
import { readLines, UnreadableFileError } from './text.ts';

/** The limits for reading a file. */
export interface FileLimits {
  readonly bytesMax: number;
  readonly linesMax: number;
}

/** How many lines are stored in one transaction. */
const LINES_PER_BATCH = 1_000;

/** How a file is read. */
interface Reading {
  readonly mapping: StatementMapping;
  readonly currency: string | null;
  readonly limits: FileLimits;
}

/**
 * Reads a statement as a stream, with only a batch and a piece of the file in memory; after all lines are read it gives
 * what is known of the whole.
 */
export function readStatementFile(content: AsyncIterable<Uint8Array>, how: Reading) {
  const hash = createHash('sha256');
  const lines = readLines(piecesOf(content, hash, how.limits), how.mapping.encoding);
  const proposal = createProposal(how.mapping);
  const currencies = new Set<string>();
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let hasUnreadable = false;
  let counts: LineCounts = { before: 0, heading: 0, blank: 0, records: 0, continued: 0 };

  function observe(line: StatementLine): void {
    const { read } = line;
    proposal.observe(line);
    hasUnreadable ||= 'unreadable' in read;
    if (!('row' in read)) return;
    currencies.add(read.row.currency);
    if (read.row.atMs === null) return;
    firstMs = Math.min(firstMs, read.row.atMs);
    lastMs = Math.max(lastMs, read.row.atMs);
  }

  async function* records(): AsyncGenerator<StatementLine> {
    const {
      mapping,
      currency,
      limits: { linesMax },
    } = how;
    let first: readonly string[] = [];
    let reader: RecordReader | undefined;
    let physical = 0;
    function read(next: readonly string[], isEnd: boolean): readonly StatementLine[] {
      if (reader) return reader.read(next, isEnd);
      first = [...first, ...next];
      if (first.length < linesNeeded(mapping) && !isEnd) return [];
      const begun = findBeginning(first, mapping);
      if (!begun.ok) throw new UnreadableFileError(begun.refusal);
      reader = createRecordReader(mapping, begun.value, currency);
      return reader.read(first.slice(begun.value.before + begun.value.headingLines), isEnd);
    }
    function observed(found: readonly StatementLine[]): readonly StatementLine[] {
      for (const one of found) observe(one);
      counts = reader?.counts() ?? counts;
      if (counts.records <= linesMax) return found;
      throw new UnreadableFileError(`the file has more than ${linesMax} lines: send it in parts`, true);
    }
    for await (const next of lines) {
      physical += next.length;
      yield* observed(read(next, false));
    }
    yield* observed(read([], true));
    const { before, heading, blank, records: taken, continued } = counts;
    const accounted = before + heading + blank + taken + continued;
    if (accounted !== physical) throw new Error(`${physical} lines came, and ${accounted} are accounted for`);
  }

  return {
    batches: inBatches(records(), LINES_PER_BATCH),
    /** SHA-256 in hex of what was read. */
    digest: () => hash.copy().digest('hex'),
    /** What became of its lines, with the options that would read more of them, and their currencies and times. */
    summary: () => ({
      file: { ...counts, proposal: proposal.made() },
      currencies: [...currencies],
      ...(firstMs <= lastMs && { firstAt: new Date(firstMs), lastAt: new Date(lastMs) }),
      ...(hasUnreadable && { hasUnreadable }),
    }),
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
