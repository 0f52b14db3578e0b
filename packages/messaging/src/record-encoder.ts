/** A record of a Kafka batch (message format v2), as kafkajs hands it to its encoder. */
export interface RecordInput {
  readonly offsetDelta?: number;
  readonly timestampDelta?: number;
  readonly key?: Buffer | string | null;
  readonly value: Buffer | string | null;
  readonly headers?: Readonly<Record<string, Buffer | string | readonly (Buffer | string)[] | undefined>>;
}

type Bytes = Buffer | string | null | undefined;

const zigZag = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0;

function varIntSize(value: number): number {
  let rest = zigZag(value);
  let size = 1;
  while (rest > 0x7f) {
    rest >>>= 7;
    size += 1;
  }
  return size;
}

function writeVarInt(target: Buffer, value: number, offset: number): number {
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

const lengthOf = (bytes: Bytes): number =>
  bytes === null || bytes === undefined ? -1 : Buffer.byteLength(bytes);

const sizeOf = (length: number): number => varIntSize(length) + Math.max(0, length);

function writeBytes(target: Buffer, bytes: Bytes, length: number, offset: number): number {
  const at = writeVarInt(target, length, offset);
  if (bytes === null || bytes === undefined) return at;
  if (typeof bytes === 'string') target.write(bytes, at, 'utf8');
  else bytes.copy(target, at);
  return at + length;
}

/** The bytes of one record: length, attributes, deltas, key, value and headers (Kafka message format v2). */
export function encodeRecord(input: RecordInput): Buffer {
  const { offsetDelta = 0, timestampDelta = 0, key, value } = input;
  const headers = Object.entries(input.headers ?? {}).flatMap(([name, content]) =>
    (Array.isArray(content) ? content : [content]).map((part: Bytes) => ({
      name,
      nameLength: Buffer.byteLength(name),
      part,
      partLength: lengthOf(part),
    })),
  );
  const keyLength = lengthOf(key);
  const valueLength = lengthOf(value);
  let bodySize =
    1 + varIntSize(timestampDelta) + varIntSize(offsetDelta) + sizeOf(keyLength) + sizeOf(valueLength);
  bodySize += varIntSize(headers.length);
  for (const { nameLength, partLength } of headers) bodySize += sizeOf(nameLength) + sizeOf(partLength);
  const record = Buffer.allocUnsafe(varIntSize(bodySize) + bodySize);
  let at = writeVarInt(record, bodySize, 0);
  record[at] = 0;
  at = writeVarInt(record, timestampDelta, at + 1);
  at = writeVarInt(record, offsetDelta, at);
  at = writeBytes(record, key, keyLength, at);
  at = writeBytes(record, value, valueLength, at);
  at = writeVarInt(record, headers.length, at);
  for (const { name, nameLength, part, partLength } of headers) {
    at = writeBytes(record, name, nameLength, at);
    at = writeBytes(record, part, partLength, at);
  }
  return record;
}
