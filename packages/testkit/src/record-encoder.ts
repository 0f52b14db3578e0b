import { varIntSize, writeText, writeVarInt } from '@pesewa/kafka';

type Bytes = Buffer | string | null | undefined;

/** The parts of a record that do not depend on its place in a batch. */
interface RecordInput {
  readonly key?: Bytes;
  readonly value: Bytes;
  readonly headers?: Readonly<Record<string, Buffer | string | readonly (Buffer | string)[] | undefined>>;
}

const lengthOf = (bytes: Bytes): number =>
  bytes === null || bytes === undefined ? -1 : Buffer.byteLength(bytes);

const sizeOf = (length: number): number => varIntSize(length) + Math.max(0, length);

function writeBytes(target: Buffer, bytes: Bytes, length: number, offset: number): number {
  const at = writeVarInt(target, length, offset);
  if (bytes === null || bytes === undefined) return at;
  if (typeof bytes === 'string') return writeText(target, bytes, length, at);
  target.set(bytes, at);
  return at + length;
}

/** The body of a record (Kafka message format v2): its key, its value and its headers, in one buffer of exact size. */
export function encodeRecordBody({ key, value, headers = {} }: RecordInput): Buffer {
  const parts = Object.entries(headers).flatMap(([name, content]) =>
    (Array.isArray(content) ? content : [content]).map((part: Bytes) => ({
      name,
      nameLength: Buffer.byteLength(name),
      part,
      partLength: lengthOf(part),
    })),
  );
  const keyLength = lengthOf(key);
  const valueLength = lengthOf(value);
  let size = sizeOf(keyLength) + sizeOf(valueLength) + varIntSize(parts.length);
  for (const { nameLength, partLength } of parts) size += sizeOf(nameLength) + sizeOf(partLength);
  const body = Buffer.allocUnsafe(size);
  let at = writeBytes(body, key, keyLength, 0);
  at = writeBytes(body, value, valueLength, at);
  at = writeVarInt(body, parts.length, at);
  for (const { name, nameLength, part, partLength } of parts) {
    at = writeBytes(body, name, nameLength, at);
    at = writeBytes(body, part, partLength, at);
  }
  return body;
}
