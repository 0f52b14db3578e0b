/** The small parts that Kafka records are made of (message format v2): zigzag varints and texts. */

const zigZag = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0;

/** The number of bytes that a 32-bit integer takes. */
export function varIntSize(value: number): number {
  let rest = zigZag(value);
  let size = 1;
  while (rest > 0x7f) {
    rest >>>= 7;
    size += 1;
  }
  return size;
}

/** Writes a 32-bit integer; gives the offset behind it. */
export function writeVarInt(target: Buffer, value: number, offset: number): number {
  let rest = zigZag(value);
  let at = offset;
  while (rest > 0x7f) {
    target[at] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
    at += 1;
  }
  target[at] = rest;
  return at + 1;
}

/** For longer texts a call into the engine is faster than a loop. */
const LOOPED_LENGTH_MAX = 64;

/** Writes a text of that many bytes as UTF-8; gives the offset behind it. */
export function writeText(target: Buffer, text: string, byteLength: number, offset: number): number {
  if (byteLength > LOOPED_LENGTH_MAX || byteLength !== text.length) {
    return offset + target.write(text, offset, 'utf8');
  }
  // The text has as many bytes as characters, so it is ASCII.
  for (let index = 0; index < byteLength; index += 1) target[offset + index] = text.charCodeAt(index);
  return offset + byteLength;
}

/** Reads 32-bit integers, one after another. */
export interface VarIntReader {
  at: number;
  readonly next: () => number;
}

/** Opens a reader at an offset in the bytes. */
export function varIntReader(bytes: Buffer, offset: number): VarIntReader {
  const reader = {
    at: offset,
    next: () => {
      let value = 0;
      let shift = 0;
      let byte: number;
      do {
        byte = bytes[reader.at] ?? 0;
        reader.at += 1;
        value |= (byte & 0x7f) << shift;
        shift += 7;
      } while (byte > 0x7f && shift < 35);
      return (value >>> 1) ^ -(value & 1);
    },
  };
  return reader;
}
