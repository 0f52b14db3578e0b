import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions, zstdDecompress } from 'node:zlib';
import { readMediaType } from '@pesewa/runtime';

const inflateZlib = promisify(inflate);
const inflateBare = promisify(inflateRaw);

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  // Some servers leave out the wrapping that the name asks for (RFC 9110 8.4.1.2).
  deflate: (bytes: Uint8Array, options: ZlibOptions) =>
    isWrapped(bytes) ? inflateZlib(bytes, options) : inflateBare(bytes, options),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};

/** Whether bytes begin as zlib's do: its method, and a check over both (RFC 1950 2.2). */
function isWrapped([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

/** Bytes that can't be decompressed; the message says why and quotes nothing of them. */
export class DecompressionError extends Error {
  override readonly name = 'DecompressionError';
}

/**
 * Decompresses a body by its Content-Encoding (RFC 9110 8.4); throws a {@link DecompressionError}, for more than
 * `bytesMax` of output too, whatever the body expands to.
 */
export async function decompress(
  bytes: Uint8Array,
  contentEncoding: string | undefined,
  bytesMax: number,
): Promise<Uint8Array> {
  const coding = (contentEncoding ?? '').trim().toLowerCase();
  if (coding === '' || coding === 'identity' || bytes.byteLength === 0) return bytes;
  if (!isKnown(coding)) return plain(bytes, 'answer in an unknown content coding');
  try {
    return await decoders[coding](bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    if (error instanceof RangeError) throw new DecompressionError('answer too large');
    return plain(bytes, `answer is not ${coding}`);
  }
}

const BRACE = 0x7b;

/** The bytes of a JSON object that is only said to be compressed; throws for any others. */
function plain(bytes: Uint8Array, problem: string): Uint8Array {
  if (bytes[0] !== BRACE) throw new DecompressionError(problem);
  return bytes;
}

function isKnown(coding: string): coding is keyof typeof decoders {
  return Object.hasOwn(decoders, coding);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of what a rail wrote: UTF-8 if it is that, else in the charset that its Content-Type names, else UTF-8 with
 * U+FFFD for each byte that is none.
 *
 * Statuses, references and amounts are ASCII and compared exactly, so one foreign letter in a reason never hides them.
 */
export function readRailText(bytes: Uint8Array, contentType: string | undefined): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return declaredDecoder(contentType).decode(bytes);
  }
}

function declaredDecoder(contentType: string | undefined): typeof utf8 {
  try {
    return new TextDecoder(readMediaType(contentType)?.params.get('charset') ?? 'utf-8');
  } catch {
    return new TextDecoder();
  }
}
