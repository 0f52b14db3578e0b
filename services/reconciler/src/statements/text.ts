import { TextDecoder } from 'node:util';
import type { StatementMapping } from '@pesewa/contracts';

/** The file can't be read at all; the message names the place and the remedy, and quotes none of its content. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
  readonly isTooLarge: boolean;

  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/** How long a line may be, in characters. */
const LINE_LENGTH_MAX = 65_536;
/** How many bytes tell how a file is written. */
const SAMPLE_BYTES = 1_024;

/** The first bytes of files of other kinds. */
const OTHER_KINDS: readonly (readonly [start: readonly number[], kind: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], 'a workbook (.xlsx, .ods) or another ZIP archive'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'a workbook (.xls)'],
  [[0x1f, 0x8b], 'packed with gzip'],
  [[0x25, 0x50, 0x44, 0x46], 'a PDF'],
  [[0xff, 0xfe, 0x00, 0x00], 'text in UTF-32'],
  [[0x00, 0x00, 0xfe, 0xff], 'text in UTF-32'],
];

/** The marks at the beginning of a file; they count for more than the mapping. */
const MARKS: readonly (readonly [start: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];

/**
 * The lines of a file by the piece, in order, each without its end (CR LF, LF or CR).
 *
 * @throws UnreadableFileError if it is a file of another kind, or a line is too long
 */
export async function* readLines(
  pieces: AsyncIterable<Uint8Array>,
  given: StatementMapping['encoding'],
): AsyncGenerator<readonly string[]> {
  let before = 0;
  let rest = '';
  for await (const text of decode(pieces, given)) {
    const all = rest + text;
    // It may be the first half of a line's end.
    const held = all.endsWith('\r') ? '\r' : '';
    const lines = all.slice(0, all.length - held.length).split(/\r\n|[\n\r]/);
    rest = (lines.pop() ?? '') + held;
    const tooLong = [...lines, rest].findIndex((line) => line.length > LINE_LENGTH_MAX);
    if (tooLong !== -1)
      throw new UnreadableFileError(
        `line ${before + tooLong + 1} has more than ${LINE_LENGTH_MAX} characters: is it CSV?`,
      );
    before += lines.length;
    if (lines.length > 0) yield lines;
  }
  if (rest !== '') yield [rest.replace(/\r$/, '')];
}

/** The text of a file; bytes that are no text of its encoding become U+FFFD. */
async function* decode(pieces: AsyncIterable<Uint8Array>, given: StatementMapping['encoding']) {
  let decoder: TextDecoder | undefined;
  let sample = Buffer.alloc(0);
  for await (const piece of pieces) {
    if (decoder) {
      yield decoder.decode(piece, { stream: true });
      continue;
    }
    sample = Buffer.concat([sample, piece]);
    if (sample.length < SAMPLE_BYTES) continue;
    decoder = decoderOf(sample, given);
    yield decoder.decode(sample, { stream: true });
  }
  decoder ??= decoderOf(sample, given);
  yield sample.length < SAMPLE_BYTES ? decoder.decode(sample) : decoder.decode();
}

function decoderOf(sample: Uint8Array, given: StatementMapping['encoding']): TextDecoder {
  const starts = (start: readonly number[]) => start.every((byte, at) => sample[at] === byte);
  const other = OTHER_KINDS.find(([start]) => starts(start));
  if (other) throw new UnreadableFileError(`the file is ${other[1]}: export it as CSV, in UTF-8`);
  const mark = MARKS.find(([start]) => starts(start));
  return new TextDecoder(mark?.[1] ?? given ?? wideEncodingOf(sample) ?? 'utf-8');
}

/** UTF-16 without a mark: in a text of mostly Latin letters, every other byte is zero. */
function wideEncodingOf(sample: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const most = Math.max(even, odd);
  if (most * 3 < sample.length || Math.min(even, odd) * 10 > most) return undefined;
  return odd > even ? 'utf-16le' : 'utf-16be';
}
