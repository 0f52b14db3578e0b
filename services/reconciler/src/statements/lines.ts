import { createHash } from 'node:crypto';
import type { StatementMapping } from '@pesewa/contracts';
import { inBatches } from '../batches.ts';
import { findBeginning, linesNeeded } from '../domain/statement-heading.ts';
import { createProposal } from '../domain/statement-proposal.ts';
import { createRecordReader, type RecordReader, type StatementLine } from '../domain/statement-records.ts';
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
export function readStatementFile(
  content: AsyncIterable<Uint8Array>,
  { mapping, currency, limits: { bytesMax, linesMax } }: Reading,
) {
  const hash = createHash('sha256');
  const proposal = createProposal(mapping);
  const currencies = new Set<string>();
  let [bytes, physical] = [0, 0];
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let hasUnreadable = false;
  let first: readonly string[] = [];
  let reader: RecordReader | undefined;
  const counts = () => reader?.counts() ?? { before: 0, heading: 0, blank: 0, records: 0, continued: 0 };

  async function* pieces() {
    for await (const piece of content) {
      bytes += piece.byteLength;
      if (bytes > bytesMax)
        throw new UnreadableFileError(`the file has more than ${bytesMax} bytes: send it in parts`, true);
      hash.update(piece);
      yield piece;
    }
  }

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
    for (const line of found) {
      proposal.observe(line);
      hasUnreadable ||= 'unreadable' in line.read;
      if (!('row' in line.read)) continue;
      const { currency: code, atMs } = line.read.row;
      currencies.add(code);
      if (atMs === null) continue;
      firstMs = Math.min(firstMs, atMs);
      lastMs = Math.max(lastMs, atMs);
    }
    if (counts().records <= linesMax) return found;
    throw new UnreadableFileError(`the file has more than ${linesMax} lines: send it in parts`, true);
  }

  async function* records(): AsyncGenerator<StatementLine> {
    for await (const next of readLines(pieces(), mapping.encoding)) {
      physical += next.length;
      yield* observed(read(next, false));
    }
    yield* observed(read([], true));
    const { before, heading, blank, records: taken, continued } = counts();
    const accounted = before + heading + blank + taken + continued;
    if (accounted !== physical) throw new Error(`${physical} lines came, and ${accounted} are accounted for`);
  }

  return {
    batches: inBatches(records(), LINES_PER_BATCH),
    /** SHA-256 in hex of what was read. */
    digest: () => hash.copy().digest('hex'),
    /** What became of its lines, with the options that would read more of them, and their currencies and times. */
    summary: () => ({
      file: { ...counts(), proposal: proposal.made() },
      currencies: [...currencies],
      ...(firstMs <= lastMs && { firstAt: new Date(firstMs), lastAt: new Date(lastMs) }),
      ...(hasUnreadable && { hasUnreadable }),
    }),
  };
}
